package executor

// Point names an instant of a write at which a crash is tested.
type Point string

// The points in their order.
const (
	// BeforePrepare: decided, and nothing is durable.
	BeforePrepare Point = "before_prepare"
	// AfterPrepare: the intent is durable, and nothing has changed.
	AfterPrepare Point = "after_prepare"
	// TempSynced: the new content is durable beside the file.
	TempSynced Point = "temp_synced"
	// AfterRename: the file has changed, perhaps not durably. An undo that
	// removes a file has removed it.
	AfterRename Point = "after_rename"
	// BeforeReceipt: the change is durable, and nobody knows of it.
	BeforeReceipt Point = "before_receipt"
)

// Points lists every point in order.
func Points() []Point {
	return []Point{BeforePrepare, AfterPrepare, TempSynced, AfterRename, BeforeReceipt}
}
