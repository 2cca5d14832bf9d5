// Command deckhand is the program: the gateway, and the command line that
// looks at it and stops it.
//
// It is the one package that knows the gateway and the words of the menu, that
// reads files, environment and arguments, and that turns errors into exit
// codes. Everything below gets what it needs handed over.
//
// How a call goes: main dispatches the stage inside a sandbox before anything
// else; run builds the commands (root.go) over one app value; a command loads
// the settings (settings.go, config.go), opens what answers it (open.go: the
// running gateway over its admin socket, else the ledger read-only), and prints
// for a person or, with --json, for a program. failure.go maps what went wrong
// to a message, a hint and an exit code.
//
// Invariants:
//   - Text that ChatGPT or a project chose is never printed to a terminal as
//     it is: tray.Clean and printable take out what a terminal would obey.
//   - A command that only looks creates nothing, not even the state directory.
//   - Secrets are printed by the two commands whose purpose that is (token,
//     recover) and by nothing else.
package main
