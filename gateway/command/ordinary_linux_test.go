package command

import (
	"os"
	"path/filepath"
	"testing"

	"deckhand/gateway/ordinary"
)

// Root runs every other test that starts something once more as an ordinary user. An ordinary user
// has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := ground(t)
	must(t, os.Chmod(dir, 0o755))
	binary, temp := filepath.Join(dir, "command.test"), filepath.Join(dir, "tmp")
	must(t, os.Mkdir(temp, 0o700))
	must(t, os.Chown(temp, ordinary.User, ordinary.User))
	ordinary.Tests{
		Binary: binary, Dir: temp, Env: []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")},
		Args: []string{"-test.short", "-test.skip", "Ordinary|Fuzz|Count|Memory|Explained|Named|Remedy|Receipt"},
		Must: []string{"TestACommandGetsExactlyItsArguments", "TestTheLoginShellTellsItsVariables"},
	}.Run(t)
}
