// Package sandbox turns a Policy into a confined process. It refuses to run
// anything unconfined: where it cannot confine, Find or Start answers with a
// *turn.Refusal of code sandbox_unavailable whose detail holds the one command
// that cures it.
//
// Contract, on Linux (bubblewrap and a stage of our own inside):
//   - The file system is an allow-list: the base system read-only, a private
//     /tmp, a fresh /proc, a minimal /dev, and the paths of the Policy. Nothing
//     else of the host has a name in there.
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
// bwrap; launcher_linux.go starts it and speaks control_linux.go's protocol
// with stage_linux.go, which uses confine_linux.go and seccomp_linux.go;
// tree_linux.go waits and kills. canary_linux.go is the self-test.
//
// Not covered:
//   - Contents reachable through a hard link that existed before.
//   - A FIFO or device inside a ReadOnly path below /tmp may be written to:
//     the private /tmp is writable, and Landlock cannot take that back for a
//     part of it.
//   - Processor, memory and disk use beyond the limits on /tmp, /dev/shm and
//     the number of processes (the last does not bind a real root).
//   - A bwrap that something else kills in the milliseconds of its setting up:
//     its child then waits for ever, with nothing in it. Start never does that.
//   - Faults of the kernel, and side channels.
//   - Other programs of the same user outside: they can read the environment
//     of a confined process.
//
// Other systems: Find refuses.
package sandbox
