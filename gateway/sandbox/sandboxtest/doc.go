// Package sandboxtest states what the sandbox promises for commands, as a table
// of attempts to get out, and makes them on whichever system it is tested on.
// All of it is tests; run them with
//
//	go test ./gateway/sandbox/sandboxtest
//
// An attempt (attempt_test.go) is a small Go function that a confined process
// runs, with how it must fail. Its first letter says what it is about: C are
// controls, which must work; R is reading, W writing, N the network, P processes
// and privileges. A number with a letter after it is a neighbour: the same wish
// by another way. The rows_*_test.go hold the table, those of one system only in
// files of that system's name.
//
// Every attempt is made through the real Launcher, in the view that commands
// get, as root and as an ordinary user (ordinary_test.go). And the same attempts
// are made without a sandbox, where they have to succeed: what does not hold
// anybody proves nothing. Where that cannot be, the row says why.
//
// ground_test.go is what the attempts meet: a home with secrets, a project with
// a Git directory, the state of a gateway, sockets, a process and its
// environment. confined_test.go and plain_test.go are the two runs, tree_test.go
// what has to be gone when a command has ended.
package sandboxtest
