// Package worktree makes, checks, compares and brings home the Git worktrees
// that worktree_write sessions write in, by calling the real git.
//
// Contract:
//   - Nothing that a repository says is ever executed: no hook, fsmonitor,
//     filter, LFS, external diff, textconv, merge driver, pager, credential
//     helper, signing program or transport.
//   - Until Apply the source's files, HEAD, index and git status are, byte for
//     byte, what they were. Its Git directory gains worktrees/<name>,
//     refs/heads/deckhand/<session> and objects, and nothing else.
//   - A worktree is never removed by itself, and other people's worktrees are
//     never pruned. From the moment that a removal is decided on, nothing but
//     Remove works in it. What its owner records of a removal, see Record, is
//     recorded while every other call on the worktree is kept out.
//   - What a crash left behind is repaired only where it is provably ours: it
//     carries the session's unguessable id, and holds what Git would have
//     written there, or the beginning of it.
//   - Apply writes everything or nothing, each file by rename and only if it
//     still is what was merged; interrupted, it can be run again.
//   - Errors that users or models can act on are *turn.Refusal; what git said
//     is their private cause.
//
// How repositories are kept from running code. One type, runner, starts git,
// with an environment made of nothing. Two kinds of calls use it:
//   - Nearly all run in a bench: a private Git directory with a configuration
//     of our own, which borrows the repository's objects. The repository's
//     configuration is not read by them at all, so it has no filters, hooks or
//     drivers to name. The few settings that only describe data (line ends,
//     ignored files, file modes) are copied over by name.
//   - Refs, registrations and the configuration itself can only be asked of
//     the repository. Those calls (class repository) are few, run nothing by
//     nature but hooks, and get settings that win over the repository's.
//
// Refused, each with a reason that says what to do: bare and unborn
// repositories, another user's, operations under way, changes, untracked
// files, submodules, sparse checkouts, objects that are not there, tracked
// files that would lose their protection in another place. Files with a filter
// (LFS, git-crypt) are worked on as Git stores them, which Source.Notes says;
// Commit and Apply refuse what would need the filter.
//
// Not covered: changes that Git takes for none (line ends alone, where
// .gitattributes says that Git normalises them) stay in the worktree; extended attributes and ACLs of files that Apply replaces, as
// with git's own checkout; a program that writes to a source file in the
// instant between Apply's last look and its rename.
package worktree
