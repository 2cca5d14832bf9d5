package session

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokensAreTheSameAfterARestartAndDifferOtherwise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	first, err := CreateSecret(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadSecret(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.RecoveryToken("ses_a", 1) != again.RecoveryToken("ses_a", 1) || !again.IsRunToken("run_a", first.RunToken("run_a")) {
		t.Error("tokens changed with the restart")
	}
	other, err := CreateSecret(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, token := range []string{
		first.RecoveryToken("ses_a", 1), first.RecoveryToken("ses_a", 2), first.RecoveryToken("ses_b", 1),
		other.RecoveryToken("ses_a", 1), first.RunToken("ses_a"), first.RunToken("run_a"),
	} {
		if seen[token] {
			t.Errorf("two tokens are equal: %s", token)
		}
		seen[token] = true
	}
	if first.IsRunToken("run_a", "") || first.IsRunToken("run_a", first.RunToken("run_b")) {
		t.Error("a wrong run token was taken")
	}
	if !first.tokenOf("ses_a", first.RecoveryToken("ses_a", 2))(2) || first.tokenOf("ses_a", first.RecoveryToken("ses_a", 2))(1) {
		t.Error("the token of one epoch was taken for another's")
	}
}

func TestAKeyThatOthersCouldReadIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"open":  func(p string) error { return os.Chmod(p, 0o640) },
		"short": func(p string) error { return os.WriteFile(p, []byte("short"), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "key")
		if _, err := CreateSecret(path); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadSecret(path); err == nil {
			t.Errorf("%s: the key was taken", name)
		}
	}
}

func TestTheKeyIsNotLogged(t *testing.T) {
	secret, err := CreateSecret(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", secret)
	if !strings.Contains(b.String(), "redacted") || strings.Contains(b.String(), fmt.Sprint(secret.key)) {
		t.Errorf("logged: %s", b.String())
	}
}
