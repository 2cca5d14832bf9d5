// Package sbpl reads macOS sandbox profiles and answers what they decide. It
// is how profiles are tested on any system: it knows the part of the language
// that Deckhand writes and refuses the rest.
//
// Contract:
//   - Read is the reader of S-expressions alone. Compile also knows every
//     operation, filter and argument count by a table, and refuses what is not
//     in it, what does not fit the operation, a parameter that is missing and
//     one that nobody uses.
//   - Profile.Allows decides as Seatbelt does: among the rules for exactly the
//     operation the last that matches counts; only if none does are the rules
//     for its wildcard asked, and so on up to default.
//
// Not covered: it is our reading of the language, not Apple's. Access is judged
// by the path it is given, which on a Mac is the one that the kernel has for the
// file. Modifiers, extensions, imports and Scheme beyond a define without
// arguments are refused.
package sbpl
