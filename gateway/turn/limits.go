package turn

// Limits that are part of the product's contract, in bytes unless named
// otherwise. Those that a user may change are defaults of session.Limits.
const (
	MaxPrompt         = 256 << 10
	MaxReply          = 768 << 10
	MaxCallsPerReply  = 16
	MaxReceiptText    = 64 << 10
	MaxClaudeResult   = 8 << 10
	DefaultTurnBudget = 72 << 10
	MaxTurnBudget     = 256 << 10
	MaxLabel          = 120
	MaxReason         = 1000
	MaxKey            = 200
	MinStartKey       = 16
	MinKey            = 4
	MaxSkills         = 8
	MaxInteger        = 1<<53 - 1
)
