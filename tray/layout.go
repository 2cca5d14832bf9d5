package tray

import "fmt"

// MaxRows is how many sessions each section of the menu has a place for; a
// screen has an end.
const MaxRows = 12

// maxWarnings is how many warnings the menu has a place for.
const maxWarnings = 3

// Key names an entry of the menu, for as long as the program runs.
type Key string

// Kind is what an entry of the menu is.
type Kind int

const (
	// Line is only read.
	Line Kind = iota
	// Action carries a command.
	Action
	// Switch carries a command and is on or off.
	Switch
	// Rule separates.
	Rule
)

// Entry is one place of the menu.
type Entry struct {
	Key      Key
	Kind     Kind
	Children []Entry
}

// Keys of the entries that stand once.
const (
	keyGateway   Key = "gateway"
	keyConnector Key = "connector"
	keyTunnel    Key = "tunnel"
	keyWelcome   Key = "welcome"
	keyNeeds     Key = "needs"
	keySessions  Key = "sessions"
	keyMore      Key = "more"
	keyStarter   Key = "starter"
	keyConnect   Key = "connect"
	keyPause     Key = "pause"
	keyAsk       Key = "ask"
	keyAwake     Key = "awake"
	keyLogin     Key = "login"
	keyLog       Key = "log"
	keyStopAll   Key = "stop_all"
	keyQuit      Key = "quit"
	keyQuitAll   Key = "quit_all"
)

// Parts of a row's menu.
const (
	partDoing   = "doing"
	partApprove = "approve"
	partDeny    = "deny"
	partStop    = "stop"
	partRecover = "recover"
	partUndo    = "undo"
	partUndoAll = "undo_all"
	partFolder  = "folder"
	partID      = "id"
)

var rowParts = []string{partDoing, partApprove, partDeny, partStop, partRecover, partUndo, partUndoAll, partFolder, partID}

func warningKey(i int) Key { return Key(fmt.Sprintf("warning/%d", i)) }

func rowKey(section Key, seat int) Key { return Key(fmt.Sprintf("%s/%d", section, seat)) }

func partKey(row Key, part string) Key { return row + "/" + Key(part) }

// Layout is every place of the menu, in order. Menus can be changed in place
// but hardly rebuilt: places are made once, and what is not needed is hidden.
func Layout() []Entry {
	entries := []Entry{{Key: keyGateway}, {Key: keyConnector}, {Key: keyTunnel}, {Key: keyWelcome}}
	for i := range maxWarnings {
		entries = append(entries, Entry{Key: warningKey(i)})
	}
	entries = append(entries, Entry{Kind: Rule})
	for _, section := range []Key{keyNeeds, keySessions} {
		entries = append(entries, Entry{Key: section})
		for seat := range MaxRows {
			row := Entry{Key: rowKey(section, seat)}
			for _, part := range rowParts {
				kind := Action
				if part == partDoing {
					kind = Line
				}
				row.Children = append(row.Children, Entry{Key: partKey(row.Key, part), Kind: kind})
			}
			entries = append(entries, row)
		}
	}
	return append(entries, Entry{Key: keyMore}, Entry{Kind: Rule},
		Entry{Key: keyStarter, Kind: Action}, Entry{Key: keyConnect, Kind: Action}, Entry{Key: keyLog, Kind: Action},
		Entry{Kind: Rule},
		Entry{Key: keyPause, Kind: Switch}, Entry{Key: keyAsk, Kind: Switch},
		Entry{Key: keyAwake, Kind: Switch}, Entry{Key: keyLogin, Kind: Switch},
		Entry{Kind: Rule},
		Entry{Key: keyStopAll, Kind: Action}, Entry{Key: keyQuit, Kind: Action}, Entry{Key: keyQuitAll, Kind: Action})
}
