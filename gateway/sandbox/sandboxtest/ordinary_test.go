package sandboxtest

import (
	"os"
	"path/filepath"
	"testing"

	"deckhand/gateway/ordinary"
)

// Root makes every attempt once more as an ordinary user, who has other ways
// out and other ways to fail. An ordinary user has just made them.
func TestNoAttemptOfAnOrdinaryUserGetsOut(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	home := base(t, "")
	if err := os.Chown(home, ordinary.User, ordinary.User); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(home, "sandboxtest.test")
	ordinary.Tests{
		Binary: binary, Dir: home, Env: []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin"},
		Args: []string{"-test.skip", "Ordinary"},
		Must: []string{"TestNoAttemptGetsOut", "TestTheSameAttemptsSucceedWithoutASandbox"},
	}.Run(t)
}
