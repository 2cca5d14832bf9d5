package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"deckhand/gateway/ordinary"
)

// Root runs every other test once more as an ordinary user, who has other
// ways out and other ways to fail. An ordinary user has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := dirOutsideTmp(t)
	binary := filepath.Join(dir, "sandbox.test")
	temp := filepath.Join(dir, "tmp")
	mkdirs(t, temp)
	for path, owner := range map[string]int{dir: 0, temp: ordinary.User} {
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The binary of Claude Code may be where only root can read it, and the
	// files of the macOS profiles are not here; who asks makes no difference.
	ordinary.Tests{
		Binary: binary, Dir: temp, Env: []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")},
		Args: []string{"-test.skip", "Ordinary|Claude|Seatbelt"},
		Must: []string{"TestSelfTestPassesHere", "TestNothingRunsUnconfined", "TestDeniedSystemCallsAnswerEPERM"},
	}.Run(t)
}
