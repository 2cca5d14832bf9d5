// Package sandbox turns a Policy into a confined process. It refuses to run
// anything unconfined: where it cannot confine, Find or Start answers with a
// *turn.Refusal of code sandbox_unavailable whose detail holds the one command
// that cures it.
//
// Contract, on Linux (bubblewrap and a stage of our own inside):
//   - In the view BaseSystem the file system is an allow-list: the base system
//     read-only, a private /tmp, a fresh /proc, a minimal /dev, and the paths of
//     the Policy. Nothing else of the host has a name in there.
//   - In the view WholeSystem everything that the user sees is there, read-only,
//     but for what is hidden: that nobody can open. /tmp, /var/tmp, /run, /dev
//     and /proc are private, and only Policy.Writable, /tmp, /var/tmp and
//     /dev/shm take writes; nothing in there can be written through either, be
//     it a FIFO or a socket.
//   - Own user, pid, network, ipc, uts and cgroup namespaces; no capability, no
//     way to get one, no terminal, no descriptor but 0, 1 and 2. The network is
//     a loopback interface of its own, or no socket at all.
//   - The process with pid 1 is the stage. It confines itself (Landlock, a
//     system call filter, limits), proves that to itself from what the kernel
//     says, and only then starts the command, which inherits all of it.
//   - Arguments and environment of the command go to the stage over a socket:
//     they are in no argument list, and in the environment of no process but
//     the command and its children.
//   - The command starts only after the launching process holds everything it
//     needs to end it. When Process.Wait returns, the whole tree is gone. When
//     the launching process dies, even by SIGKILL, the tree dies with it.
//
// How a start goes, file by file: policy.go says what is allowed and refuses
// what cannot be shown safely; bubblewrap_linux.go writes the arguments of
// bwrap, with whole_linux.go for the whole system; launcher_linux.go starts it
// and speaks control_linux.go's protocol with stage_linux.go, which uses
// confine_linux.go and seccomp_linux.go; tree_linux.go waits and kills.
// selftest.go and canary.go are the self-test; package sandboxtest is the whole
// table of what must not be possible.
//
// Not covered:
//   - Contents reachable through a hard link that existed before.
//   - In the base system, a FIFO or device inside a ReadOnly path below /tmp may
//     be written to: the private /tmp is writable, and Landlock cannot take that
//     back for a part of it. In the whole system such a /tmp takes no writes.
//   - In the whole system, a file system that is mounted on the machine while a
//     command runs: it gets into the command's view. Landlock keeps it from being
//     written, but not modes and times from being changed.
//   - A hidden file that a program outside replaces by another while a command
//     runs: the kernel takes the cover away with the old one.
//   - Processor, memory and disk use beyond the limits on /tmp, /dev/shm and
//     the number of processes (the last does not bind a real root).
//   - A bwrap that something else kills in the milliseconds of its setting up:
//     its child then waits for ever, with nothing in it. Start never does that.
//   - Faults of the kernel, and side channels.
//   - Other programs of the same user outside: they can read the environment
//     of a confined process.
//
// On macOS it is sandbox-exec with a profile, and the stage inside; what a
// Policy means there stands with the type seatbelt (seatbelt.go), how a start
// goes in control_darwin.go. The command starts only after the kernel has said
// that the stage bears the mark of its run, by which the tree is found and
// ended. There is no pid 1 and no death signal: a launcher that is killed ends
// the tree by the end of a pipe, and a command that kills the stage in the same
// instant lives on, confined. The number of processes is bounded for the user.
//
// Other systems: Find refuses.
package sandbox
