package sandboxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"deckhand/gateway/sandbox"
)

// TestMain lets the test binary stand in for deckhand, as the stage of a
// sandbox, and for the programs that the tests confine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			os.Exit(sandbox.Stage(os.Args[2:]))
		case "attempts":
			os.Exit(makeAttempts(os.Args[2], os.Args[3:]))
		case "linger":
			linger()
			return
		case "tree":
			os.Exit(treeMain(os.Args[2], os.Args[3]))
		case "listen":
			os.Exit(listenMain())
		case "launch":
			os.Exit(launchMain(os.Args[2], os.Args[3]))
		}
	}
	os.Exit(m.Run())
}

// self is the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// makeAttempts makes attempts one after the other and says how each went.
func makeAttempts(where string, ids []string) int {
	g, err := loadGround(where)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := json.NewEncoder(os.Stdout)
	for _, a := range find(ids) {
		if err := out.Encode(a.make(g)); err != nil {
			return 1
		}
	}
	return 0
}

// lingers is longer than any test needs, and not for ever.
const lingers = 10 * time.Minute

// linger is a process that is only there. It ignores what asks it to end.
func linger() {
	ignoreSignals()
	io.WriteString(os.Stdout, ".")
	time.Sleep(lingers)
}

// listenMain greets whoever connects, until it is killed.
func listenMain() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println(l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		c.Write([]byte("ahoy"))
		c.Close()
	}
}

// ignoreSignals takes no signal that asks for an end.
func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT) }
