package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// inputDigest is what makes two calls with one key the same call.
func inputDigest(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		// Every part is a string, a number or a slice of these.
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (r StartRequest) input() ledger.Input {
	return ledger.Input{
		Scope: ledger.ScopeOf("start", r.Holder.Conversation), Key: r.IdempotencyKey,
		Digest: inputDigest(r.Prompt, r.WorkingDirectory, r.Profile, r.SubagentPolicy, r.Label, r.Skills),
	}
}

func (r ContinueRequest) input() ledger.Input {
	return ledger.Input{Scope: ledger.ScopeOf("continue", string(r.Session)), Key: r.IdempotencyKey, Digest: inputDigest(r.Prompt)}
}

func (r RecoverRequest) input() ledger.Input {
	return ledger.Input{Scope: ledger.ScopeOf("recover", string(r.Session)), Key: r.RecoveryID, Digest: inputDigest(r.Token)}
}

func (r StopRequest) input() ledger.Input {
	return ledger.Input{Scope: ledger.ScopeOf("stop", string(r.Session)), Key: r.RequestID, Digest: inputDigest(r.Reason)}
}

// input also returns the size of the whole reply. Arguments count in canonical
// form, so that a repeat may be spelled otherwise.
func (r ReplyRequest) input() (in ledger.Input, size int, err error) {
	parts := []any{r.Text}
	size = len(r.Text)
	for i, c := range r.Calls {
		canonical := jsontext.Value(c.Arguments).Clone()
		if err := canonical.Canonicalize(); err != nil {
			return in, 0, turn.RefuseFor(turn.InvalidArguments, err, "tool_calls[%d].arguments is not a JSON object with unique keys in valid UTF-8", i)
		}
		parts = append(parts, c.Name, string(canonical))
		size += len(c.Name) + len(canonical)
	}
	return ledger.Input{Scope: ledger.ScopeOf("reply", string(r.Session), string(r.Turn)), Key: r.ReplyID, Digest: inputDigest(parts...)}, size, nil
}

// checkPrompt refuses what Claude Code or a reader could not take as text.
func checkPrompt(prompt string) error {
	switch {
	case len(prompt) > turn.MaxPrompt:
		return turn.Refuse(turn.TooLarge, "the prompt has %d bytes, at most %d are taken", len(prompt), turn.MaxPrompt)
	case !utf8.ValidString(prompt) || strings.ContainsRune(prompt, 0):
		return turn.Refuse(turn.InvalidArguments, "prompt is not plain UTF-8 text")
	case !visible(prompt):
		return turn.Refuse(turn.InvalidArguments, "prompt has no visible character")
	}
	return nil
}

// visible reports whether text has a character that a person would see: a
// letter, digit, sign or symbol that is not made to look like nothing.
func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !strings.ContainsRune(blanks, r)
	})
}

// blanks are letters and symbols that show as an empty space: the fillers of
// Hangul, the empty Braille cell and the place of a missing object.
const blanks = "\u115f\u1160\u3164\uffa0\u2800\ufffc"
