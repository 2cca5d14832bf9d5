// Package atomicfile replaces a file so that readers see the old or the new
// content, never half of one, and so that what was written survives a crash of
// the machine once WriteFile has returned.
//
// Contract:
//   - The new content is written to a temporary file in the same directory,
//     synced, given its mode, renamed over the target, and the directory is
//     synced.
//   - On an error the target is as it was and no temporary file is left, with
//     one exception: if only the last sync of the directory fails, the target
//     is new and may be old again after a power cut.
//   - A symlink at the target is replaced, never followed.
//
// Not covered: a crash between the writing and the renaming leaves a temporary
// file named ".NAME.*.tmp"; keeping owner, ACLs and extended attributes of the
// file that is replaced; two writers at once (the last rename wins).
package atomicfile
