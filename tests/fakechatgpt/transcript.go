package fakechatgpt

import (
	"sync"

	"deckhand/app/demo/chatgpt"
)

// Transcript keeps what went over the wire, of any number of conversations.
type Transcript struct {
	mu   sync.Mutex
	said []chatgpt.Exchange
}

func (b *Transcript) add(e chatgpt.Exchange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, e)
}

// Answers returns every answer of the server, in the order of their ends.
func (b *Transcript) Answers() [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all [][]byte
	for _, e := range b.said {
		all = append(all, e.Answer)
	}
	return all
}
