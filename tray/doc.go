// Package tray says in words what the gateway does, and lays those words out
// as a menu.
//
// It takes a Model, a plain copy of what is true at one instant, and knows
// nothing of the gateway that made it. Items turns a Model into the tree of a
// menu whose leaves carry Commands, the wishes of a person; carrying them out is
// the caller's. The same words are used by the command line, so that menu and
// terminal never disagree.
//
// Invariants:
//   - Everything here is a pure function of its arguments: no clock is read and
//     nothing is kept. The same Model gives the same menu.
//   - Text that comes from outside (labels, folders, tool names) passes Clean
//     before it is shown: one line, no control or direction marks, bounded.
//   - Times are shown to the minute, so that a shown text is still true when it
//     is read.
//
// Not covered: drawing the menu, icons and notifications.
package tray
