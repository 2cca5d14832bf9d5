// Package crash lets a program built for tests kill itself at chosen instants.
//
// Contract: At does nothing in a program that users have. In one built with the
// tag crashtest it kills the process, without any chance to clean up, at the
// point that DECKHAND_CRASH_AT names: "point", or "point:n" for the nth time that
// it is reached.
//
// Not covered: kills between points; tests send those from outside.
package crash

// Point names an instant at which a crash is tested.
type Point string

// The points in their order.
const (
	// BeforePrepare: a write is decided, and nothing is durable.
	BeforePrepare Point = "before_prepare"
	// AfterPrepare: its intent is durable, and nothing has changed.
	AfterPrepare Point = "after_prepare"
	// TempSynced: the new content is durable beside the file.
	TempSynced Point = "temp_synced"
	// AfterRename: the file has changed, perhaps not durably. An undo that
	// removes a file has removed it.
	AfterRename Point = "after_rename"
	// BeforeReceipt: the change is durable, and nobody knows of it.
	BeforeReceipt Point = "before_receipt"
	// BeforeShimAnswer: the receipt is durable, and Claude Code has not heard of
	// it.
	BeforeShimAnswer Point = "before_shim_answer"
	// BeforeChatAnswer: the next turn is durable, and ChatGPT has not heard of it.
	BeforeChatAnswer Point = "before_chat_answer"
)

// WritePoints lists the points of a change of one file, in order.
func WritePoints() []Point {
	return []Point{BeforePrepare, AfterPrepare, TempSynced, AfterRename, BeforeReceipt}
}

// Points lists every point in order.
func Points() []Point { return append(WritePoints(), BeforeShimAnswer, BeforeChatAnswer) }
