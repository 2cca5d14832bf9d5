package sandbox

// The launching process and the stage speak over two pipes, JSON values in
// both. Sockets would do, but inside a sandbox without network a pipe is one
// thing less to hang on.
//
//	launcher            stage
//	plan      ────►               looks whether it is confined
//	          ◄────     ready     and the launcher asks the kernel the same
//	go        ────►               starts the command
//	          ◄────     report    started, or why not
//	terminate ────►               SIGTERM to the command, any number of times
//	          ◄────     report    how the command ended
//
// The pipe of the orders is the lifeline: at its end the stage kills everything
// in the sandbox, itself last. The launcher does the same from outside, by the
// mark, when it is told to or when the reports end.

// Descriptors that sandbox-exec hands through to the stage.
const (
	ordersFD  = 3
	reportsFD = 4
	stdinFD   = 5
	stdoutFD  = 6
	stderrFD  = 7
)

// plan is what the stage has to do.
type plan struct {
	task
	// Processes is how many processes the user may have.
	Processes uint64 `json:"processes"`
}

// ready says that the stage awaits its go.
type ready struct {
	PID int `json:"pid"`
}
