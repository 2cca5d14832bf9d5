package executor

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedIn); dir != "" {
		writeAndBeKilled(dir)
	}
	goleak.VerifyTestMain(m)
}
