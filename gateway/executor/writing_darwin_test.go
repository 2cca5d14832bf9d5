package executor

import "testing"

func xattrText(*testing.T, string) string { return "" }
