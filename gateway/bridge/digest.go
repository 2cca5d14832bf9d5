package bridge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"deckhand/gateway/anthropic"
)

// delivery are the members that say how an answer is delivered and how long it
// may be, and nothing of what is asked. The package comment has the reasons.
var delivery = []string{"stream", "max_tokens", "thinking"}

// Digest identifies the question of a request: SHA-256 in hex.
func Digest(r *anthropic.Request) string {
	members := slices.DeleteFunc(slices.Clone(r.Members), func(m anthropic.Member) bool {
		return slices.Contains(delivery, m.Name)
	})
	slices.SortFunc(members, func(a, b anthropic.Member) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, m := range members {
		hashField(h, []byte(m.Name))
		hashField(h, m.Value)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashField writes the length first, so that no two lists of fields meet.
func hashField(h hash.Hash, field []byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
	h.Write(field)
}

// messageID is the id of the answer to a question. It is made of the digest
// because it is sent before the answer is known, and again with every repeat.
func messageID(digest string) anthropic.MessageID {
	return anthropic.MessageID("msg_" + digest[:26])
}
