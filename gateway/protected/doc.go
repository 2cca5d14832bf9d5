// Package protected decides whether a path may be read or written by the tools
// of a session. It is the only place where that is decided.
//
// Contract:
//   - Decisions are about real paths: absolute, clean, links resolved, as the
//     kernel spells them for an open descriptor. Whoever decides on a path as a
//     caller wrote it decides too early.
//   - Two lists, both in table.go: hidden (neither read, listed, searched nor
//     written) and read-only (readable, never written). A third, short one
//     names the places that hold no files, such as /proc.
//   - A rule covers what it names and everything below it. Rules with "**/"
//     are about one name at any depth, in any case.
//   - Rules hold for the place that a symbolic link in a rule's path or inside
//     a protected folder leads to, and for the same folder or file under
//     another name (bind mount, hard link). Both are looked up on the disk, in
//     folders that hold credentials only, bounded, and at most surveyAge ago.
//   - On macOS names are compared in NFC and folded case.
//   - Commands meet the disk through their sandbox and not through decisions:
//     Screen names what the sandbox has to hide. It is a picture of the moment.
//   - Reasons are one sentence, meant for a model or a user, and never hold the
//     path of Deckhand's state.
//
// Not covered: secrets in files with ordinary names; a hard link to a .env file
// or into a folder that is too large to be surveyed (browser profiles, mail);
// locations that the user moved by an environment variable, unless they are
// named in Config.Hidden; copies in snapshots of a file system, and what overlay
// file systems show a second time. For commands also: a hidden file that comes
// into being, or is replaced by another, while the command runs; environment
// files in other folders than the command's own; hard links.
package protected
