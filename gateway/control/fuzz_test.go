package control

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// FuzzFront sends bodies through the whole chain: whatever comes, there is one
// answer that is JSON or empty, no panic, and what reaches the engine came
// through a call of one of the six tools that the body itself names.
func FuzzFront(f *testing.F) {
	for tool, args := range good {
		f.Add([]byte(callBody("native_session_"+tool, args)))
	}
	for _, s := range []string{
		discover, initialize, "", "[]", `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x","_meta":` + modernMeta + `}}`,
		callBody("native_session_status", `{"native_session_id":"\ud800","lease_id":1e400,"wait_seconds":30.0}`),
	} {
		f.Add([]byte(s))
	}
	var log bytes.Buffer
	engine := &script{}
	s, err := New(Config{Engine: engine, Version: "test", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		f.Fatal(err)
	}
	h := s.Handler(Listener{Hosts: []string{"localhost:1"}, Credential: StaticBearer(sha256.Sum256([]byte(localToken)))})
	f.Fuzz(func(t *testing.T, body []byte) {
		log.Reset()
		engine.asked = nil
		engine.do = func(context.Context, any) (session.Snapshot, error) { return sample(), nil }
		r := httptest.NewRequestWithContext(t.Context(), "POST", Path, bytes.NewReader(body))
		r.Host = "localhost:1"
		r.Header.Set("Authorization", "Bearer "+localToken)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || (w.Body.Len() > 0 && !json.Valid(w.Body.Bytes())) || (w.Body.Len() == 0 && w.Code != 202) {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
		if log.Len() > 0 {
			t.Fatalf("logged as a fault: %s", &log)
		}
		if len(engine.asked) > 1 {
			t.Fatalf("one body asked the engine %d times", len(engine.asked))
		}
		if len(engine.asked) == 1 {
			// Maps match names exactly, unlike structs.
			var top, params map[string]json.RawMessage
			var method, name string
			if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["method"], &method) != nil || method != methodCall {
				t.Fatalf("reached the engine: %q", body)
			}
			if json.Unmarshal(top["params"], &params) != nil || json.Unmarshal(params["name"], &name) != nil || s.tools[name] == nil {
				t.Fatalf("reached the engine: %q", body)
			}
		}
	})
}

// FuzzArguments decodes arbitrary arguments of every tool: they are accepted,
// and then mean the same to a plain JSON reader, or refused with words.
func FuzzArguments(f *testing.F) {
	for _, args := range good {
		f.Add([]byte(args))
	}
	f.Add([]byte(`{"native_session_id":"s","lease_id":"l","wait_seconds":5e1}`))
	engine := &script{}
	s, err := New(Config{Engine: engine, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = bytes.TrimSpace(raw)
		all, err := members(slices.Concat([]byte(`{"arguments":`), raw, []byte(`}`)))
		if err != nil || !bytes.Equal(all["arguments"], raw) {
			return // the envelope would not have let it through
		}
		for name, tool := range s.tools {
			engine.asked = nil
			_, err := tool.call(t.Context(), s, session.Holder{}, raw)
			if err == nil {
				var again map[string]json.RawMessage
				if json.Unmarshal(raw, &again) != nil || len(engine.asked) != 1 {
					t.Fatalf("%s accepts %q", name, raw)
				}
				for argument := range again {
					if tool.schema.shape.Properties[argument] == nil {
						t.Fatalf("%s accepts %q", name, raw)
					}
				}
				continue
			}
			refused, ok := errors.AsType[*turn.Refusal](err)
			if !ok || refused.Detail == "" || len(engine.asked) != 0 {
				t.Fatalf("%s, %q: %v", name, raw, err)
			}
		}
	})
}
