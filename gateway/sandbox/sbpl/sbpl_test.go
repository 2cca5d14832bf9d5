package sbpl

import (
	"fmt"
	"strings"
	"testing"
)

// print writes expressions so that Read reads them again.
func print(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		switch n.Kind {
		case List:
			b.WriteString("(" + print(n.List) + ") ")
		case String:
			fmt.Fprintf(&b, `"%s" `, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.Text))
		case Regex:
			fmt.Fprintf(&b, `#"%s" `, n.Text)
		case Symbol:
			b.WriteString(n.Text + " ")
		}
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	f.Add(`(version 1) ; comment` + "\n" + `(deny default) (allow file-read* (regex #"^/dev/\.x$") (literal "a\"b\\"))`)
	f.Add(`)(`)
	f.Add(`#"`)
	f.Add(`"\x"`)
	f.Add(strings.Repeat("(", 300))
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := Read(text)
		if err != nil {
			if nodes != nil {
				t.Fatal("an error with expressions")
			}
			return
		}
		again, err := Read(print(nodes))
		if err != nil {
			t.Fatalf("%v in %q", err, print(nodes))
		}
		if print(again) != print(nodes) {
			t.Errorf("%q became %q", print(nodes), print(again))
		}
	})
}

const head = "(version 1)\n(deny default)\n"

func TestCompileRefusesWhatItDoesNotKnow(t *testing.T) {
	for text, want := range map[string]string{
		``:                                      "version 1",
		`(version 2)`:                           "version 1",
		`(version 1)`:                           "first rule",
		`(version 1) (allow signal)`:            "first rule",
		head + `(permit signal)`:                "neither",
		head + `(allow)`:                        "without an operation",
		head + `(allow file-reed*)`:             "unknown operation",
		head + `(allow default (literal "/x"))`: "no filter for default",
		head + `(allow file-read* (litteral "/x"))`:                           "unknown filter",
		head + `(allow file-read* (with no-sandbox))`:                         "unknown filter",
		head + `(allow file-read* ())`:                                        "unknown filter",
		head + `(allow file-read* (literal "/x" "/y"))`:                       "2 arguments",
		head + `(allow file-read* (literal))`:                                 "0 arguments",
		head + `(allow file-read* (literal #"x"))`:                            "neither a string",
		head + `(allow file-read* (literal ""))`:                              "neither a string",
		head + `(allow file-read* (regex "x"))`:                               "no regular expression",
		head + `(allow file-read* (regex #"(x"))`:                             "missing",
		head + `(allow file-read* (vnode-type DEVICE))`:                       "none of",
		head + `(allow file-read* (require-not (literal "/") (literal "/")))`: "2 arguments",
		head + `(allow file-read* (require-any))`:                             "0 arguments",
		head + `(allow file-read* (literal (param "P")))`:                     "no value",
		head + `(allow file-read* (literal (param)))`:                         "without its name",
		head + `(allow file-read* (global-name "x"))`:                         "no filter for file-read*",
		head + `(allow mach-lookup (literal "/x"))`:                           "no filter for mach-lookup",
		head + `(allow mach-lookup (vnode-type FIFO))`:                        "no filter for mach-lookup",
		head + `(allow network-outbound (remote tcp "10.0.0.1:80"))`:          "neither localhost",
		head + `(allow network-outbound (remote tcp "localhost:70000"))`:      "no port",
		head + `(allow network-outbound (remote icmp "localhost:80"))`:        "none of",
		head + `(allow network-bind (remote tcp "localhost:80"))`:             "no filter for network-bind",
		head + `(define x (literal "/"))`:                                     "a define is not",
		head + `(define (literal) (literal "/"))`:                             "defined already",
		head + `(define (x) (literal "/")) (define (x) (literal "/"))`:        "defined already",
		head + `(define (x) (global-name "y")) (allow file-read* (x))`:        "no filter for file-read*",
		head + `(define (x) (literal "/")) (allow file-read* (x "/"))`:        "takes no arguments",
		head + `(allow file-read* (y)) (define (y) (literal "/"))`:            "unknown filter",
	} {
		if _, err := Compile(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Compile(head+`(allow signal)`, map[string]string{"P": "x"}); err == nil || !strings.Contains(err.Error(), "nothing uses") {
		t.Errorf("a parameter that nobody uses: %v", err)
	}
}

func TestAllows(t *testing.T) {
	p, err := Compile(head+`
(define (secret) (require-any (subpath (param "S")) (regex #"/\.env$")))
(allow file-read* (require-all (subpath "/") (require-not (secret))))
(allow file-write* (subpath "/w"))
(deny file-write-mode (literal "/w/a"))
(allow file-write* (subpath "/w/a"))
(deny file-read-metadata)
(allow file-read-metadata (literal "/m"))
(deny file-ioctl)
(allow file-ioctl (require-all (vnode-type CHARACTER-DEVICE) (literal "/dev/null")))
(allow sysctl-read (sysctl-name "hw.ncpu") (sysctl-name-prefix "hw.o."))
(allow network-outbound (remote tcp "localhost:80") (remote ip "*:53"))
(allow signal (target same-sandbox))
(allow process*)
(deny process-info*)
`, map[string]string{"S": "/s"})
	if err != nil {
		t.Fatal(err)
	}
	path := func(p string) Subject { return Subject{Path: p} }
	for i, row := range []struct {
		op   string
		s    Subject
		want bool
	}{
		{"file-read-data", path("/x"), true},
		{"file-read-data", path("/"), true},
		{"file-read-data", path(""), false},
		{"file-read-data", path("/s"), false},
		{"file-read-data", path("/s/x"), false},
		{"file-read-data", path("/sx"), true},
		{"file-read-data", path("/x/.env"), false},
		{"file-read-data", path("/x/.envx"), true},
		// A rule for the operation counts more than one for its wildcard,
		// wherever they stand; of equal ones the last.
		{"file-read-metadata", path("/x"), false},
		{"file-read-metadata", path("/m"), true},
		{"file-write-mode", path("/w/b"), true},
		{"file-write-mode", path("/w/a"), false},
		{"file-write-data", path("/w/a"), true},
		{"file-write-data", path("/x"), false},
		{"file-ioctl", path("/dev/null"), false},
		{"file-ioctl", Subject{Path: "/dev/null", Vnode: "CHARACTER-DEVICE"}, true},
		{"file-link", path("/w/x"), false},
		{"sysctl-read", Subject{Name: "hw.ncpu"}, true},
		{"sysctl-read", Subject{Name: "hw.ncpux"}, false},
		{"sysctl-read", Subject{Name: "hw.o.x"}, true},
		{"sysctl-read", Subject{}, false},
		{"network-outbound", Subject{Protocol: "tcp", Host: "localhost", Port: "80"}, true},
		{"network-outbound", Subject{Protocol: "udp", Host: "localhost", Port: "80"}, false},
		{"network-outbound", Subject{Protocol: "udp", Host: "9.9.9.9", Port: "53"}, true},
		{"network-outbound", Subject{Path: "/s.sock"}, false},
		{"network-bind", Subject{}, false},
		{"signal", Subject{Target: "same-sandbox"}, true},
		{"signal", Subject{Target: "others"}, false},
		{"process-exec", path("/x"), true},
		{"process-fork", Subject{}, true},
		{"process-info-pidinfo", Subject{}, false},
		{"lsopen", Subject{}, false},
	} {
		if got := p.Allows(row.op, row.s); got != row.want {
			t.Errorf("row %d: %s of %+v: %t", i, row.op, row.s, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a wildcard was asked for")
		}
	}()
	p.Allows("file-read*", path("/x"))
}
