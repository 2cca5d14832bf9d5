// Package executor owns every tool of a session: their schemas, the check of a
// call before it is authorised, and the running of one authorised action.
//
// Contract:
//   - Catalog is part of the product's contract: names, order and schemas do
//     not change. A tool that cannot be used yet is in it and not Available.
//   - Check decides from the arguments alone, without touching the disk. What
//     only the disk can tell is a Result of Run with a stable code.
//   - Run never panics on a call that Check accepted, and returns soon after
//     its context ends.
//   - The text of a Result is valid UTF-8 of at most turn.MaxReceiptText bytes.
//     What was cut or skipped is counted in it, with the way to the rest.
//
// How paths are made safe: nothing is decided on a path as it was written. A
// file is first opened without effect, then the kernel is asked where that
// descriptor really is, and package protected decides on the answer; what is
// read is the descriptor that was decided on. A search resolves its root in the
// same way and below it opens folders and files only where no component is a
// link, so that a folder swapped for a link in the meantime leads nowhere.
//
// Order: searches visit entries in byte order of their paths, a folder's path
// ending in a slash. Whatever stops one (a limit, the clock, a full answer), all
// before that point is done and all after it is not, which is what a cursor
// says. Workers read ahead in that order; one goroutine visits.
//
// How files are changed: the links on the way are resolved once, then a walk by
// descriptor goes from the write root to the file's folder, where no component
// may be a link, and every later step is relative to that folder. One lock per
// real path serialises the writes of all sessions. The new content is computed
// in memory and its intent made durable (Sink.Prepare); it is written beside the
// file with all that the original has besides content, synced, and renamed over
// it if the file still is, byte by byte, what it was read as; then the folder is
// synced. Whatever fails before the rename leaves the file as it was and nothing
// beside it. What cannot be told then is turn.OutcomeInterrupted, and Settle asks
// the file. Edit and NotebookEdit change nothing outside the span they replace;
// what they could not do faithfully they refuse.
//
// Not covered: commands (package sandbox). A file that changes while it is read
// is shown as it was read. Programs that write to a file without looking, in the
// instant between the last comparison and the rename, lose what they wrote to
// the old one. Creation time, and on Linux the flags of chattr, are those of a
// new file.
package executor
