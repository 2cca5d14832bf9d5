package tray

import (
	"strings"
	"testing"
	"time"
)

func TestNoticesTellEachChangeOnce(t *testing.T) {
	asks := Row{ID: "s", Label: "shop", Folder: "/src/my_shop", Profile: "direct_write", Status: AwaitingApproval, Generation: 1, AnswerBy: noon.Add(10 * time.Minute)}
	writes := Row{ID: "s", Label: "shop", Folder: "/src/my_shop", Profile: "direct_write", Status: Running}
	tree := Row{ID: "s", Label: "shop", Folder: "/wt/x", Source: "/src/my_shop", Profile: "worktree_write", Status: AwaitingApproval, Generation: 1}
	with := func(r Row, s Status) Row { r.Status = s; return r }
	waiting := Row{ID: "s", Label: "shop", Folder: "/src/my_shop", Status: WaitingForGPT, TurnOpened: noon.Add(-100 * time.Minute), LeaseEnds: noon.Add(6 * time.Minute)}
	later := func(r Row, d time.Duration) Model { return Model{Now: noon.Add(d), Gateway: running(), Rows: []Row{r}} }
	is := func(rows ...Row) Model { return Model{Now: noon, Gateway: running(), Rows: rows} }
	down := is()
	down.Gateway.TunnelDown = noon
	for _, c := range []struct {
		name   string
		was    Model
		first  bool
		is     Model
		title  string // "" for none
		body   string
		urgent bool
	}{
		{"asked", is(), false, is(asks), "A session asks you", "shop wants to write in my_shop. Open the menu to approve or deny. 10 min left.", true},
		{"asked for a worktree", is(), false, is(tree), "A session asks you", "shop wants to write in a worktree of my_shop. Open the menu to approve or deny.", true},
		{"still asked", is(asks), false, is(asks), "", "", false},
		{"asked again", is(asks), false, is(func() Row { r := asks; r.Generation = 2; return r }()), "A session asks you", "", true},
		{"approved", is(asks), false, is(writes), "", "", false},
		{"starts without being asked", is(), false, is(writes), "A session writes in a folder of yours", "shop may now change files in my_shop. Its menu stops it and takes writes back.", false},
		{"reads", is(), false, is(Row{ID: "r", Profile: "read_only", Status: Running}), "", "", false},
		{"fails", is(writes), false, is(with(writes, Failed)), "A run failed", "shop in my_shop: no reason given.", false},
		{"stays failed", is(with(writes, Failed)), false, is(with(writes, Failed)), "", "", false},
		{"lost", is(writes), false, is(with(writes, RecoveryRequired)), "A session lost its Claude Code", "shop in my_shop needs recovery. Its menu has the prompt for a new chat.", true},
		{"lease not near", is(waiting), false, later(waiting, 30*time.Second), "", "", false},
		{"lease near", is(waiting), false, later(waiting, 90*time.Second), "A lease is about to end", "shop in my_shop has waited 1 h 41 min for ChatGPT; its lease ends in 4 min.", true},
		{"lease still near", later(waiting, 90*time.Second), false, later(waiting, 120*time.Second), "", "", false},
		{"tunnel lost", is(), false, down, "ChatGPT cannot reach this machine", "", true},
		{"tunnel still lost", down, false, down, "", "", false},
		{"after a restart", Model{}, true, is(with(writes, RecoveryRequired)), "A session lost its Claude Code", "", true},
		{"asked since before", Model{}, true, is(asks), "A session asks you", "", true},
		{"nothing new after a restart", Model{}, true, is(writes, with(waiting, Failed)), "", "", false},
		{"several", is(), false, is(asks, Row{ID: "x", Profile: "direct_write", Status: Running}), "1 session needs you", "Open the menu to see them.", true},
		{"several that only tell", is(), false, is(writes, Row{ID: "x", Profile: "direct_write", Status: Running}), "2 things happened", "", false},
	} {
		was := &c.was
		if c.first {
			was = nil
		}
		n, ok := NoticeOf(was, c.is)
		if ok != (c.title != "") || n.Title != c.title || c.body != "" && n.Body != c.body || n.Urgent != c.urgent {
			t.Errorf("%s: %v %+v", c.name, ok, n)
		}
	}
}

func TestANoticeHoldsNothingThatTurnsItsText(t *testing.T) {
	r := Row{ID: "s", Label: "a\u202eb\nc", Folder: "/src/x\u2066y", Profile: "direct_write", Status: AwaitingApproval, Generation: 1}
	n, _ := NoticeOf(&Model{}, Model{Now: noon, Rows: []Row{r}})
	if text := n.Title + n.Body; strings.ContainsAny(text, "\u202e\u2066\n") || !strings.Contains(text, "ab c") {
		t.Errorf("%q", text)
	}
}
