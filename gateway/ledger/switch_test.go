package ledger_test

import (
	"testing"

	"deckhand/gateway/turn"
)

func TestSwitchesOutliveTheGatewayAndAreToldOnce(t *testing.T) {
	w := newWorld(t)
	if s, err := w.Switches(); err != nil || s != (turn.Switches{}) {
		t.Fatalf("at first: %+v, %v", s, err)
	}
	for range 2 {
		if s, err := w.Flip(turn.AskSwitch, true); err != nil || s != (turn.Switches{AskBeforeWrite: true}) {
			t.Fatalf("on: %+v, %v", s, err)
		}
	}
	if _, err := w.Flip("no_such", true); err == nil {
		t.Error("a switch that does not exist was turned")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	if s, err := w.Switches(); err != nil || s != (turn.Switches{AskBeforeWrite: true}) {
		t.Errorf("after a restart: %+v, %v", s, err)
	}
	if _, err := w.Flip(turn.AskSwitch, false); err != nil {
		t.Fatal(err)
	}
	events, err := w.Events(0, "", 10)
	if err != nil || len(events) != 2 || events[0].Kind != "switch.on" || events[1].Kind != "switch.off" || events[0].Name != "ask_before_write" {
		t.Errorf("events: %+v, %v", events, err)
	}
}

func TestAPauseRefusesNewSessionsAndNothingElse(t *testing.T) {
	w := newWorld(t)
	old := w.start("before")
	if _, err := w.Flip(turn.PauseSwitch, true); err != nil {
		t.Fatal(err)
	}
	_, err := w.Start(startInput("new", 8))
	wantCode(t, err, turn.Paused)
	// A repeat of a start is no new session.
	if e, err := w.Start(startInput("before", 8)); err != nil || !e.Replay || e.Session.ID != old.Session.ID {
		t.Errorf("repeat: %+v, %v", e.Session.ID, err)
	}
	w.offer(old.Run.ID, "digest")
	if got := w.status(old.Session.ID); got != turn.WaitingForGPT {
		t.Errorf("the session that was there is %s", got)
	}
	if _, err := w.Flip(turn.PauseSwitch, false); err != nil {
		t.Fatal(err)
	}
	// The refusal did not use the key up.
	if e, err := w.Start(startInput("new", 8)); err != nil || e.Replay {
		t.Errorf("after the pause: %+v, %v", e.Session.ID, err)
	}
}
