package control

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// untouched is a body that nobody may read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("read")
}
func (u untouched) Close() error { return nil }

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func request(t *testing.T, method, host string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), method, Path, nil)
	r.Host, r.Body = host, untouched{t}
	return r
}

var passed = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func TestHostIsServedOnlyByItsExactName(t *testing.T) {
	h := checkHost(append(LoopbackHosts(8123), "Deckhand.example.org"), passed)
	for host, want := range map[string]int{
		"127.0.0.1:8123":          http.StatusTeapot,
		"localhost:8123":          http.StatusTeapot,
		"LOCALHOST:8123":          http.StatusTeapot,
		"[::1]:8123":              http.StatusTeapot,
		"deckhand.example.org":    http.StatusTeapot,
		"127.0.0.1":               http.StatusForbidden,
		"127.0.0.1:8124":          http.StatusForbidden,
		"evil.example.org":        http.StatusForbidden,
		"evil.example.org:8123":   http.StatusForbidden,
		"localhost.evil.org:8123": http.StatusForbidden,
		"x.deckhand.example.org":  http.StatusForbidden,
		"":                        http.StatusForbidden,
	} {
		if got := serve(h, request(t, "POST", host)).Code; got != want {
			t.Errorf("host %q: %d, want %d", host, got, want)
		}
	}
	if got := serve(checkHost(nil, passed), request(t, "POST", "localhost:8123")).Code; got != http.StatusForbidden {
		t.Errorf("no hosts: %d", got)
	}
}

func TestOriginMayBeAbsentOrKnown(t *testing.T) {
	h := checkOrigin([]string{"https://deckhand.example.org"}, passed)
	for _, c := range []struct {
		origins []string
		want    int
	}{
		{nil, http.StatusTeapot},
		{[]string{"https://chatgpt.com"}, http.StatusTeapot},
		{[]string{"https://deckhand.example.org"}, http.StatusTeapot},
		{[]string{"null"}, http.StatusForbidden},
		{[]string{""}, http.StatusForbidden},
		{[]string{"http://chatgpt.com"}, http.StatusForbidden},
		{[]string{"https://chatgpt.com.evil.org"}, http.StatusForbidden},
		{[]string{"https://evil.org"}, http.StatusForbidden},
		{[]string{"https://chatgpt.com", "https://evil.org"}, http.StatusForbidden},
	} {
		r := request(t, "POST", "")
		r.Header["Origin"] = c.origins
		if got := serve(h, r).Code; got != c.want {
			t.Errorf("origin %q: %d, want %d", c.origins, got, c.want)
		}
	}
}

func TestPathIsExactAndNeverRedirects(t *testing.T) {
	for path, want := range map[string]int{
		"/mcp": http.StatusTeapot, "/mcp/": http.StatusTeapot,
		"/": http.StatusNotFound, "/mcp/x": http.StatusNotFound, "/MCP": http.StatusNotFound, "//mcp": http.StatusNotFound,
	} {
		r := request(t, "POST", "")
		r.URL.Path = path
		if got := serve(onlyPath(passed), r).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func TestCredentialDecidesBeforeTheBodyIsRead(t *testing.T) {
	bearer := StaticBearer(sha256.Sum256([]byte("right")))
	for _, c := range []struct {
		name      string
		with      Credential
		values    []string
		want      int
		challenge string
	}{
		{"right", bearer, []string{"Bearer right"}, http.StatusTeapot, ""},
		{"scheme in lower case", bearer, []string{"bearer right"}, http.StatusTeapot, ""},
		{"none", bearer, nil, http.StatusUnauthorized, realm},
		{"wrong", bearer, []string{"Bearer wrong"}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"longer", bearer, []string{"Bearer right2"}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"empty", bearer, []string{"Bearer "}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"no scheme", bearer, []string{"right"}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"basic", bearer, []string{"Basic right"}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"two headers", bearer, []string{"Bearer right", "Bearer right"}, http.StatusUnauthorized, realm + `, error="invalid_token"`},
		{"closed", Closed("not connected"), []string{"Bearer right"}, http.StatusUnauthorized, realm},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"POST", "GET"} {
				r := request(t, method, "")
				r.Header["Authorization"] = c.values
				got := serve(authenticate(c.with, passed), r)
				if got.Code != c.want || got.Header().Get("WWW-Authenticate") != c.challenge {
					t.Errorf("%s: %d %q", method, got.Code, got.Header().Get("WWW-Authenticate"))
				}
				if strings.Contains(got.Body.String(), "right") {
					t.Errorf("the answer repeats a token: %s", got.Body)
				}
			}
		})
	}
}

func TestClosedSaysWhy(t *testing.T) {
	if got := serve(authenticate(Closed("no way is connected"), passed), request(t, "POST", "")); !strings.Contains(got.Body.String(), "no way is connected") {
		t.Error(got.Body)
	}
}

func TestOnlyPostIsAnswered(t *testing.T) {
	for _, method := range []string{"GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"} {
		got := serve(onlyPost(passed), request(t, method, ""))
		if got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, got.Code, got.Header().Get("Allow"))
		}
	}
	if got := serve(onlyPost(passed), request(t, "POST", "")).Code; got != http.StatusTeapot {
		t.Errorf("POST: %d", got)
	}
}

func TestBodyIsCappedToTheByte(t *testing.T) {
	post := func(h http.Header, length int64, size int) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", Path, strings.NewReader(strings.Repeat(" ", size)))
		r.Header, r.ContentLength = h, length
		x := &exchange{}
		w := serve(limitBody(passed), r.WithContext(withExchange(r.Context(), x)))
		if w.Code == http.StatusTeapot && len(x.body) != size {
			t.Errorf("%d of %d bytes were read", len(x.body), size)
		}
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		length int64
		size   int
		want   int
	}{
		{MaxBody, MaxBody, http.StatusTeapot},
		{MaxBody + 1, MaxBody + 1, http.StatusRequestEntityTooLarge},
		{-1, MaxBody, http.StatusTeapot},
		{-1, MaxBody + 1, http.StatusRequestEntityTooLarge},
	} {
		if got, body := post(http.Header{}, c.length, c.size); got != c.want {
			t.Errorf("length %d, size %d: %d %s", c.length, c.size, got, body)
		}
	}
	for media, want := range map[string]int{
		"application/json": http.StatusTeapot, "application/json; charset=utf-8": http.StatusTeapot,
		"text/plain": http.StatusUnsupportedMediaType, "application/jsonx": http.StatusUnsupportedMediaType, ";": http.StatusUnsupportedMediaType,
	} {
		if got, _ := post(http.Header{"Content-Type": {media}}, 2, 2); got != want {
			t.Errorf("%s: %d, want %d", media, got, want)
		}
	}
	r := request(t, "POST", "")
	r.ContentLength = MaxBody + 1
	if got := serve(limitBody(passed), r); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("announced length: %d", got.Code)
	}
}

func TestChainAsksInOrder(t *testing.T) {
	r := newRig(t)
	// Everything is wrong at once; each step cures the first fault.
	foreign := func(q *http.Request) { q.Host = "evil.org" }
	steps := []struct {
		change []func(*http.Request)
		method string
		want   int
	}{
		{[]func(*http.Request){foreign, header("Origin", "null"), without("Authorization")}, "GET", 403},
		{[]func(*http.Request){header("Origin", "null"), without("Authorization")}, "GET", 403},
		{[]func(*http.Request){without("Authorization")}, "GET", 401},
		{nil, "GET", 405},
	}
	for i, s := range steps {
		if got := r.do(s.method, "", s.change...); got.status != s.want {
			t.Errorf("step %d: %d %s", i, got.status, got.body)
		}
	}
	big := strings.Repeat("x", MaxBody+1)
	if got := r.do("POST", big, without("Authorization")); got.status != 401 {
		t.Errorf("large and unauthenticated: %d", got.status)
	}
	if got := r.do("POST", big); got.status != 413 {
		t.Errorf("large: %d", got.status)
	}
	if n := len(r.engine.requests()); n != 0 {
		t.Errorf("the engine was asked %d times", n)
	}
}
