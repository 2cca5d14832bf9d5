package turn

// Profile says what a session may do. It is fixed for the session's life,
// together with its directory and subagent policy.
type Profile string

const (
	// ReadOnly reads the whole machine but protected paths. It never writes.
	ReadOnly Profile = "read_only"
	// DirectWrite also writes in the real directory that the user named.
	DirectWrite Profile = "direct_write"
	// WorktreeWrite also writes in a Git worktree that the gateway makes.
	WorktreeWrite Profile = "worktree_write"
)

// Profiles lists every profile, least powerful first.
func Profiles() []Profile { return []Profile{ReadOnly, DirectWrite, WorktreeWrite} }

// Valid reports whether p is one of the three profiles.
func (p Profile) Valid() bool { return p == ReadOnly || p == DirectWrite || p == WorktreeWrite }

// Writes reports whether sessions of this profile may change files.
func (p Profile) Writes() bool { return p == DirectWrite || p == WorktreeWrite }

// SubagentPolicy says whether a session may ask a subagent.
type SubagentPolicy string

const (
	// NoSubagent is the default.
	NoSubagent SubagentPolicy = "none"
	// DeepSeekExplicit lets ChatGPT start one DeepSeek subagent at a time. It
	// needs the WorktreeWrite profile.
	DeepSeekExplicit SubagentPolicy = "deepseek_explicit"
)

// Valid reports whether p is one of the policies.
func (p SubagentPolicy) Valid() bool { return p == NoSubagent || p == DeepSeekExplicit }
