package executor

import "deckhand/gateway/turn"

// pseudoSpellings leads to the kernel's files in every way, the last one by a
// link of TestRefusalsBySpelling.
var pseudoSpellings = []spelling{
	{"/dev/null", turn.PseudoFileSystem, ""},
	{"/dev/../dev/zero", turn.PseudoFileSystem, ""},
	{"/.vol/1/2", turn.PseudoFileSystem, ""},
	{"/System/Volumes/Data/private/etc/hosts", turn.PseudoFileSystem, ""},
	{"zero", turn.PseudoFileSystem, ""},
}
