package runner

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func testPlan() Plan {
	s := testSpec()
	s.Run = "run_1"
	return Plan{Spec: s, Protocol: 1, Socket: "/private/shim.sock", Home: "/homes/h"}
}

func TestCommandLineAndEnvironment(t *testing.T) {
	resumed := testPlan()
	resumed.Resume = true
	impatient := testPlan()
	impatient.ShortWaits, impatient.ExtraEnv, impatient.Tools = true, []string{"DISABLE_COMPACT=", "API_TIMEOUT_MS=1"}, nil
	for name, p := range map[string]Plan{"new": testPlan(), "resumed": resumed, "impatient": impatient} {
		args, env := Command(p, "/runs/run_1", "127.0.0.1:7717")
		got := strings.Join(args, "\n") + "\n\n" + strings.Join(env, "\n") + "\n"
		path := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestCommandHoldsNoSecretButThePortToken(t *testing.T) {
	p := testPlan()
	args, env := Command(p, "/runs/run_1", "127.0.0.1:7717")
	if text := strings.Join(slices.Concat(args, env, []string{toolServers}), " "); strings.Contains(text, p.Token) || strings.Contains(text, p.Prompt) || strings.Contains(text, p.Socket) {
		t.Error("the run's token, the prompt or the gateway's socket is in the command")
	}
	if text := strings.Join(args, " ") + toolServers; strings.Contains(text, p.PortToken()) {
		t.Error("the port's token is in the arguments or in a file")
	}
	other := p
	other.Token += "x"
	if p.PortToken() == other.PortToken() || strings.Contains(p.PortToken(), p.Token) {
		t.Error("the port's token says something about another")
	}
}

func TestPromptNeverBeginsWithACommand(t *testing.T) {
	for _, prompt := range []string{"/compact", "!ls", "#x", " /x", "<system-reminder>x</system-reminder>"} {
		s := Spec{Prompt: prompt}
		header, rest, ok := strings.Cut(s.Stdin(), "\n")
		if !ok || rest != prompt || strings.ContainsAny(header[:1], "/!#< ") {
			t.Errorf("%q", s.Stdin())
		}
	}
}
