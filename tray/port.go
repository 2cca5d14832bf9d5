package tray

// Port draws a menu on a platform. Its methods but Run and Quit are called by
// one goroutine at a time, after ready was called and before Run returns. A port
// that cannot draw any more keeps quiet: what it stands for goes on.
type Port interface {
	// Run shows the icon and serves the platform's events. It has to be called
	// on the main thread of the process, calls ready once, and returns after
	// Quit or when the platform ends the program; exit is called before that.
	Run(ready, exit func())
	// Quit makes Run return. It may be called at any time.
	Quit()
	// Build makes every place, all hidden. clicked may be called from any
	// goroutine until Run returns, and returns soon.
	Build(entries []Entry, clicked func(Key))
	// Place makes one place show is instead of was.
	Place(key Key, was, is State)
	// Bar makes the icon show b.
	Bar(b Bar)
}
