package turn

// Switch is something that a person turns on and off for all sessions. It
// stays as it is over restarts.
type Switch string

const (
	// PauseSwitch refuses new sessions while it is on; those that exist go on.
	PauseSwitch Switch = "pause"
	// AskSwitch asks a person before every session that writes while it is on,
	// whatever the policies and the trusted folders say.
	AskSwitch Switch = "ask_before_write"
	// AwakeSwitch keeps the machine from sleeping by itself while a run is live
	// and it is on.
	AwakeSwitch Switch = "keep_awake"
)

// Switches says which are on.
type Switches struct {
	Paused         bool `json:"paused"`
	AskBeforeWrite bool `json:"ask_before_write"`
	KeepAwake      bool `json:"keep_awake"`
}

// With returns the switches after one was turned. It refuses a switch that does
// not exist.
func (s Switches) With(which Switch, on bool) (Switches, error) {
	switch which {
	case PauseSwitch:
		s.Paused = on
	case AskSwitch:
		s.AskBeforeWrite = on
	case AwakeSwitch:
		s.KeepAwake = on
	default:
		return s, Refuse(InvalidArguments, "there is no switch %q", string(which))
	}
	return s, nil
}
