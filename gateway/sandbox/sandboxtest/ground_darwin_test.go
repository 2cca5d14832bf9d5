package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// everySignal is what P02 sends. It ends whoever did not expect it, but for the
// stage, which is no pid 1 here and would be missed.
const everySignal = syscall.SIGUSR1

// own makes what only macOS tells apart: files that are known by their names.
func (g *ground) own(t *testing.T) {
	t.Helper()
	for _, name := range []string{".env.local", ".env.example", ".ENV.Production"} {
		g.must(t, os.WriteFile(g.work(name), []byte(g.Secret), 0o600))
	}
	var st unix.Stat_t
	g.must(t, unix.Stat(g.home(".aws/credentials"), &st))
	g.Number = fmt.Sprintf("%d/%d", st.Dev, st.Ino)
}

// toolFolders hold the tools themselves. Those in /usr/bin ask services which
// of them to start.
func toolFolders() string {
	out, err := exec.Command("/usr/bin/xcode-select", "-p").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out)) + "/usr/bin:"
}

func harmless(*exec.Cmd) {}
