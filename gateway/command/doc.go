// Package command runs one command of a session in the sandbox and says what
// came of it. It is the whole of the tool RunCommand but for its schema.
//
// Contract:
//   - The program gets exactly the arguments of argv; no shell reads them.
//     Standard input is empty.
//   - Nothing runs unconfined. The whole file system is read-only but for the
//     session's cache folder, protected paths are not there, and there is no
//     network but a loopback of the command's own.
//   - Run returns when the command and everything it started are gone, however
//     it ended: by itself, by its time limit, by a stop or with the gateway.
//     What a command leaves running ends with it.
//   - Output is read to its end, however much it is, and kept as head and tail
//     in bounded memory. Bytes and lines are counted exactly.
//   - The environment is made, not inherited: see environment.go. PATH and the
//     homes of tools come from the user's login shell, which is asked once. Of
//     the gateway's own environment only what names a language or a time zone
//     gets through.
//   - A refused write or connection is explained, with what to do instead, as
//     far as the output tells of it.
//   - Commands of one session take turns, in the order in which they came: they
//     share the session's cache folder, and a build that comes before a test is
//     done when the test begins. So there are at most as many at once as there
//     are live sessions.
//
// How one command goes, file by file: directory.go finds where it runs,
// environment.go with login.go and developer.go with which variables, program.go which program it
// is, cache.go makes what it may write to, run.go starts and awaits it,
// output.go takes what it prints, receipt.go and explain.go say what came of it.
//
// What argv may name is decided in package entry, before anything is
// authorised; that is a courtesy, the sandbox is the boundary.
//
// Not covered: what package sandbox does not. A program that prints what looks
// like a refused write gets an explanation that it did not need. Disk use of
// the cache folders is bounded by their removal after a while, not by a quota.
package command
