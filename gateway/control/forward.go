package control

import (
	"bytes"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// forward hands the message to mcp-go as a body made of the parts that were
// checked. The body that came is not used again: mcp-go decodes member names
// without regard to case and takes the last of equal names, so that its idea
// of a body could differ from the one that was checked.
func (s *Server) forward(w http.ResponseWriter, r *http.Request) {
	m := exchangeFrom(r.Context()).message
	body := m.encode()
	r = r.WithContext(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if m.method == methodDiscover {
		w = always200{w}
	}
	s.mcp.ServeHTTP(w, r)
}

// always200 answers server/discover: ChatGPT takes a 4xx there for a broken
// connector, while it understands the JSON-RPC error in the body.
type always200 struct{ http.ResponseWriter }

func (w always200) WriteHeader(int) { w.ResponseWriter.WriteHeader(http.StatusOK) }

// encode writes the message for mcp-go: without unknown members and without
// the arguments of a call.
func (m *message) encode() []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","method":`)
	b.Write(quote(m.method))
	if m.id != nil {
		b.WriteString(`,"id":`)
		b.Write(m.id)
	}
	switch {
	case m.method == methodCall:
		b.WriteString(`,"params":{"name":`)
		b.Write(quote(m.tool))
		b.WriteString(`,"arguments":{}`)
		if m.meta.raw != nil {
			b.WriteString(`,"_meta":`)
			b.Write(m.meta.raw)
		}
		b.WriteByte('}')
	case m.params != nil:
		b.WriteString(`,"params":`)
		b.Write(m.params)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote never fails: the strings it gets were decoded strictly.
func quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return b
}
