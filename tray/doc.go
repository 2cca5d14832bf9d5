// Package tray says in words what the gateway does, shows those words as a menu
// in the menu bar or tray, and as notifications.
//
// It takes a Model, a plain copy of what is true at one instant, and knows
// nothing of the gateway that made it. A Board lays a Model out as a View: what
// each place of the Layout shows, the icon, and when that is not true any more.
// A Menu keeps a Port, the platform's menu, as the newest View says, and gives
// each click to the caller as a Command. NoticeOf says what of a change a person
// should hear; a Notifier shows it. The command line uses the same words, so that
// menu and terminal never disagree.
//
// Invariants:
//   - What is shown is a pure function of Models: a Board remembers only which
//     place a session has, so that nothing moves under the pointer.
//   - Places are made once and never removed; the port is told only of places
//     that change what they show, and nothing while nothing shown changes.
//   - A click means what its place showed for 700 ms before it.
//   - Text that comes from outside (labels, folders, tool names) passes Clean
//     before it is shown: one line, no control or direction marks, bounded.
//   - Times are shown to the minute, so that a shown text is still true when it
//     is read.
//   - When the desktop goes away, this keeps quiet and the gateway goes on.
//
// Not covered: carrying commands out, and proof that a person clicked: on Linux
// any program of the same user can click.
package tray
