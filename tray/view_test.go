package tray

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

// drawView shows what a person sees of a view, with the command of each place.
func drawView(v View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "icon: %s, %d, %q\n", moods[v.Bar.Mood], v.Bar.Count, v.Bar.Tooltip)
	var level func([]Entry, string)
	level = func(entries []Entry, indent string) {
		for _, e := range entries {
			if e.Kind == Rule {
				b.WriteString(indent + "───\n")
				continue
			}
			s := v.Places[e.Key]
			if s.Hidden {
				continue
			}
			mark := ""
			if e.Kind == Switch {
				mark = map[bool]string{true: "[x] ", false: "[ ] "}[s.Checked]
			}
			b.WriteString(indent + mark + s.Title)
			if s.Command != nil {
				fmt.Fprintf(&b, "   %s", strings.TrimPrefix(fmt.Sprintf("%T%+v", s.Command, s.Command), "tray."))
			}
			b.WriteByte('\n')
			level(e.Children, indent+"    ")
		}
	}
	level(Layout(), "")
	if !v.Next.IsZero() {
		fmt.Fprintf(&b, "next after %s\n", v.Next.Sub(noon))
	}
	return b.String()
}

var moods = map[Mood]string{Calm: "calm", Attention: "attention", Paused: "paused", Down: "down"}

func running() Gateway {
	return Gateway{Running: true, Version: "0.1.0", PID: 4711, Address: "127.0.0.1:7341",
		LastRequest: noon.Add(-7 * time.Minute)}
}

func TestMenuOfABusyGateway(t *testing.T) {
	g := running()
	g.Warnings = []string{"Claude Code 2.1.332 is not\na verified version", "two", "three", "four"}
	g.Connector, g.Tunnel, g.TunnelDown = "127.0.0.1:7342", "cloudflared does not answer", noon.Add(-90*time.Second)
	g.AskBeforeWrite = true
	golden(t, "busy.txt", drawView(new(Board).View(Model{Now: noon, Gateway: g, StartAtLogin: true, Rows: []Row{
		{ID: "ses_a", Label: "docs", Folder: "/src/docs", Profile: "read_only", Status: Executing,
			Tools: []string{"SearchText", "Read"}, LeaseEnds: noon.Add(2*time.Hour - time.Second)},
		{ID: "ses_b", Label: "", Folder: "/src/my_shop", Profile: "direct_write", Status: AwaitingApproval, Generation: 3,
			AnswerBy: noon.Add(9*time.Minute + 20*time.Second), LeaseEnds: noon.Add(2 * time.Hour)},
		{ID: "ses_c", Label: "infra", Folder: "/wt/infra", Source: "/src/infra", Profile: "worktree_write", Status: WaitingForGPT,
			TurnOpened: noon.Add(-3 * time.Minute), LeaseEnds: noon.Add(65 * time.Minute), Undoable: true},
		{ID: "ses_d", Label: "api", Folder: "/src/api", Profile: "read_only", Status: WaitingForGPT,
			TurnOpened: noon.Add(-119 * time.Minute), LeaseEnds: noon.Add(40 * time.Second)},
		{ID: "ses_e", Label: "lost \u202eone 👩‍💻", Folder: "/src/e", Profile: "read_only", Status: RecoveryRequired,
			LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_f", Label: "a very long label that no menu has the room to show", Folder: "/src/f",
			Profile: "read_only", Status: Stopping, LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_g", Label: "done", Folder: "/src/g", Profile: "read_only", Status: Idle, LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_h", Label: "old", Folder: "/src/h", Profile: "read_only", Status: Stopped, Updated: noon.Add(-time.Hour)},
		{ID: "ses_i", Label: "gone", Folder: "/src/i", Profile: "direct_write", Status: Failed, Code: "shim_lost", Undoable: true, Updated: noon.Add(-time.Minute)},
	}})))
}

func TestMenuWithoutSessionsAndWithoutAGateway(t *testing.T) {
	golden(t, "empty.txt", drawView(new(Board).View(Model{Now: noon, Gateway: running(), FirstStart: true})))
	golden(t, "down.txt", drawView(new(Board).View(Model{Now: noon})))
	g := running()
	g.Paused = true
	golden(t, "paused.txt", drawView(new(Board).View(Model{Now: noon, Gateway: g})))
}

func TestEveryPlaceIsSetInEveryView(t *testing.T) {
	keys := keysOf(Layout())
	for _, m := range []Model{{Now: noon}, {Now: noon, Gateway: running(), Rows: rows(30, RecoveryRequired)}} {
		v := new(Board).View(m)
		for _, key := range keys {
			if _, ok := v.Places[key]; !ok {
				t.Errorf("nothing says what %s shows", key)
			}
		}
		if len(v.Places) != len(keys) {
			t.Errorf("%d places are set, the layout has %d", len(v.Places), len(keys))
		}
	}
}

func rows(n int, status Status) []Row {
	var list []Row
	for i := range n {
		list = append(list, Row{ID: fmt.Sprintf("ses_%s_%d", status, i), Label: fmt.Sprint("row ", i), Status: status})
	}
	return list
}

func TestWhatNeedsAPersonIsNotCutOffByWhatIsBusy(t *testing.T) {
	list := append(rows(MaxRows+3, Running), Row{ID: "ses_old", Label: "urgent", Status: RecoveryRequired})
	got := drawView(new(Board).View(Model{Now: noon, Gateway: running(), Rows: list}))
	if !strings.Contains(got, "▲ urgent") {
		t.Errorf("the session that needs a person was cut off:\n%s", got)
	}
	if n := strings.Count(got, "● row"); n != MaxRows {
		t.Errorf("%d busy sessions are shown, want %d:\n%s", n, MaxRows, got)
	}
	if !strings.Contains(got, "○ More: 3 sessions\n") {
		t.Errorf("nothing says that sessions are not shown:\n%s", got)
	}
}

// seated returns which session each place of the second section shows.
func seated(v View) string {
	var b strings.Builder
	for i := range MaxRows {
		if s := v.Places[rowKey(keySessions, i)]; !s.Hidden {
			fmt.Fprintf(&b, "%d:%s ", i, strings.Split(strings.TrimPrefix(s.Title, "● "), " · ")[0])
		}
	}
	return b.String()
}

func TestNothingMovesUnderThePointer(t *testing.T) {
	var b Board
	at := func(seconds int, names ...string) string {
		m := Model{Now: noon.Add(time.Duration(seconds) * time.Second), Gateway: running()}
		for _, n := range names {
			m.Rows = append(m.Rows, Row{ID: n, Label: n, Status: Running})
		}
		return seated(b.View(m))
	}
	for _, c := range []struct {
		after int
		names []string
		want  string
	}{
		{0, []string{"a", "b", "c"}, "0:a 1:b 2:c "},
		{1, []string{"d", "a", "b", "c"}, "0:a 1:b 2:c 3:d "},
		{2, []string{"d", "a", "c"}, "0:a 2:c 3:d "},
		// The place of b rests: e gets another one.
		{3, []string{"e", "d", "a", "c"}, "0:a 2:c 3:d 4:e "},
		{8, []string{"f", "e", "d", "a", "c"}, "0:a 1:f 2:c 3:d 4:e "},
	} {
		if got := at(c.after, c.names...); got != c.want {
			t.Errorf("after %d s with %v: %s, want %s", c.after, c.names, got, c.want)
		}
	}
}

func TestAFullMenuGivesTheLongestRestedPlaceAgain(t *testing.T) {
	var b Board
	all := rows(MaxRows, Running)
	b.View(Model{Now: noon, Gateway: running(), Rows: all})
	b.View(Model{Now: noon.Add(time.Second), Gateway: running(), Rows: all[1:]})
	b.View(Model{Now: noon.Add(2 * time.Second), Gateway: running(), Rows: all[2:]})
	v := b.View(Model{Now: noon.Add(3 * time.Second), Gateway: running(), Rows: append([]Row{{ID: "new", Label: "new", Status: Running}}, all[2:]...)})
	if got := seated(v); !strings.HasPrefix(got, "0:new 2:row 2") {
		t.Errorf("the new session sits at %s", got)
	}
}

// TestNextIsWhenAShownTextChanges walks from instant to instant that views name:
// between two of them nothing changes, and at each something does.
func TestNextIsWhenAShownTextChanges(t *testing.T) {
	g := running()
	g.TunnelDown = noon.Add(-13 * time.Second)
	m := Model{Gateway: g, Rows: []Row{
		{ID: "a", Label: "a", Status: WaitingForGPT, TurnOpened: noon.Add(-3*time.Minute - 7*time.Second), LeaseEnds: noon.Add(7*time.Minute + 11*time.Second)},
		{ID: "b", Label: "b", Status: AwaitingApproval, AnswerBy: noon.Add(4*time.Minute + 3*time.Second)},
		{ID: "c", Label: "c", Status: Failed, Updated: noon.Add(-11*time.Minute - 5*time.Second)},
	}}
	show := func(at time.Time) (string, time.Time) {
		m.Now = at
		v := new(Board).View(m)
		next := v.Next
		v.Next = time.Time{}
		return drawView(v), next
	}
	at, changes := noon, 0
	for at.Before(noon.Add(20 * time.Minute)) {
		text, next := show(at)
		if !next.After(at) {
			t.Fatalf("at %s the next instant is %s", at.Sub(noon), next.Sub(noon))
		}
		for _, between := range []time.Duration{next.Sub(at) / 2, next.Sub(at) - 1} {
			if now, _ := show(at.Add(between)); now != text {
				t.Fatalf("between %s and %s the text changes:\n%s\n%s", at.Sub(noon), next.Sub(noon), text, now)
			}
		}
		if now, _ := show(next); now != text {
			changes++
		}
		at = next
	}
	if changes < 60 {
		t.Errorf("%d changes in 20 minutes", changes)
	}
}
