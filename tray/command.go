package tray

// Command is what a person asked for by a click. The set is closed; each has a
// twin on the command line.
type Command interface{ command() }

type (
	// Approve lets a session start that waits for a person. Generation is that
	// of the request which the menu showed.
	Approve struct {
		ID         string
		Generation int
	}
	// Deny ends a session that waits for a person.
	Deny struct {
		ID         string
		Generation int
	}
	// StopSession ends a session's run.
	StopSession struct{ ID string }
	// CopyRecoveryPrompt puts the prompt with which a new chat takes a session
	// over on the clipboard.
	CopyRecoveryPrompt struct{ ID string }
	// UndoLast takes a session's last write back.
	UndoLast struct{ ID string }
	// UndoSession takes back all that a session wrote.
	UndoSession struct{ ID string }
	// OpenFolder shows a session's folder in the file manager.
	OpenFolder struct{ ID, Path string }
	// CopyID puts a session's id on the clipboard.
	CopyID struct{ ID string }
	// OpenLog shows the log.
	OpenLog struct{}

	// CopyStarterPrompt puts the first prompt for ChatGPT on the clipboard.
	CopyStarterPrompt struct{}
	// ConnectChatGPT shows how ChatGPT is connected.
	ConnectChatGPT struct{}
	// Pause refuses new sessions while it is on.
	Pause struct{ On bool }
	// AskBeforeWrite asks a person before every session that writes while it is
	// on, also in folders that are trusted.
	AskBeforeWrite struct{ On bool }
	// KeepAwake keeps the machine from sleeping while a run is live and it is on.
	KeepAwake struct{ On bool }
	// StartAtLogin starts the app when the user logs in while it is on.
	StartAtLogin struct{ On bool }
	// StopAll ends every session's run.
	StopAll struct{}
	// Quit ends the app; runs go on.
	Quit struct{}
	// StopAllAndQuit ends every session's run, then the app.
	StopAllAndQuit struct{}
)

func (Approve) command()            {}
func (Deny) command()               {}
func (StopSession) command()        {}
func (CopyRecoveryPrompt) command() {}
func (UndoLast) command()           {}
func (UndoSession) command()        {}
func (OpenFolder) command()         {}
func (CopyID) command()             {}
func (OpenLog) command()            {}
func (CopyStarterPrompt) command()  {}
func (ConnectChatGPT) command()     {}
func (Pause) command()              {}
func (AskBeforeWrite) command()     {}
func (KeepAwake) command()          {}
func (StartAtLogin) command()       {}
func (StopAll) command()            {}
func (Quit) command()               {}
func (StopAllAndQuit) command()     {}

// Commands holds one of each kind, in the order of the menu.
func Commands() []Command {
	return []Command{
		Approve{}, Deny{}, StopSession{}, CopyRecoveryPrompt{}, UndoLast{}, UndoSession{}, OpenFolder{}, CopyID{}, OpenLog{},
		CopyStarterPrompt{}, ConnectChatGPT{}, Pause{}, AskBeforeWrite{}, KeepAwake{}, StartAtLogin{},
		StopAll{}, Quit{}, StopAllAndQuit{},
	}
}
