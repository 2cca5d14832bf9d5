package protected

// Access is what somebody wants to do with a path.
type Access string

const (
	// Read is to read, list or search.
	Read Access = "read"
	// Write is to create, change or remove.
	Write Access = "write"
)

// Kind says which list a decision comes from.
type Kind string

const (
	// Open: no rule covers the path.
	Open Kind = "open"
	// Hidden: the path is neither read nor written.
	Hidden Kind = "hidden"
	// ReadOnly: the path may be read and never written.
	ReadOnly Kind = "read_only"
	// Pseudo: the path lies where the kernel shows its state as files.
	Pseudo Kind = "pseudo"
)

// GitRule is the rule that covers repository internals. Searches count what it
// hides apart from the rest.
const GitRule = "**/.git"

// The other rules about one name at any depth; name.go says what each matches.
const (
	envRule     = "**/.env"
	envRules    = "**/.env.*"
	coreRule    = "**/core.[0-9]+"
	keepassRule = "**/*.kdbx"
)

// Decision is the answer about one path.
type Decision struct {
	// Allowed says that the access may go on, as far as this package knows.
	Allowed bool
	Kind    Kind
	// Rule is the rule as the table spells it, "" if none covers the path.
	Rule string
	// Reason is one sentence without a full stop, "" if Kind is Open.
	Reason string
}

// rule is one path of the table, or one that was derived from it.
type rule struct {
	kind Kind
	// spelled is how the table writes the path, or words where the path is not
	// public.
	spelled string
	// pattern is the absolute form of it.
	pattern string
	reason  string
	// holds says what is wrong with a folder that a rule's path lies in, as a
	// place to be written as a whole; "" if nothing.
	holds string
	// deep says that the folder is small and holds credentials, so that links
	// inside it are worth a look.
	deep bool
}

func (r *rule) decide(access Access) Decision {
	if r == nil {
		return Decision{Allowed: true, Kind: Open}
	}
	return Decision{
		Allowed: r.kind == ReadOnly && access == Read,
		Kind:    r.kind, Rule: r.spelled, Reason: r.reason,
	}
}
