package sbpl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Profile is a profile that was understood.
type Profile struct {
	// Rules are in the order of the text.
	Rules []Rule

	functions map[string][]Node
	params    map[string]string
	used      map[string]bool
	strings   []string
}

// Rule is one allow or deny for one operation.
type Rule struct {
	Allow     bool
	Operation string
	// Filters: one of them has to match; none matches everything.
	Filters []Node
}

// Compile reads a profile with the values of its parameters.
func Compile(text string, params map[string]string) (*Profile, error) {
	nodes, err := Read(text)
	if err != nil {
		return nil, err
	}
	p := &Profile{functions: map[string][]Node{}, params: params, used: map[string]bool{}}
	if len(nodes) == 0 || nodes[0].head() != "version" || len(nodes[0].List) != 2 || nodes[0].List[1].Text != "1" {
		return nil, errors.New("compile profile: it does not begin with (version 1)")
	}
	for _, n := range nodes[1:] {
		if err := p.form(n); err != nil {
			return nil, fmt.Errorf("compile profile: line %d: %w", n.Line, err)
		}
	}
	if len(p.Rules) == 0 || p.Rules[0].Operation != "default" {
		return nil, errors.New("compile profile: the first rule is not about default")
	}
	for name := range params {
		if !p.used[name] {
			return nil, fmt.Errorf("compile profile: nothing uses the parameter %s", name)
		}
	}
	return p, nil
}

// Strings are all that stand between quotes in the text, regular expressions
// too.
func (p *Profile) Strings() []string { return p.strings }

// form takes one expression of the top level.
func (p *Profile) form(n Node) error {
	switch n.head() {
	case "define":
		if len(n.List) != 3 || n.List[1].Kind != List || len(n.List[1].List) != 1 || n.List[1].head() == "" {
			return errors.New("a define is not (define (name) filter)")
		}
		name := n.List[1].head()
		if _, twice := p.functions[name]; twice || known(name) {
			return fmt.Errorf("%s is defined already", name)
		}
		if err := p.check(n.List[2], nil); err != nil {
			return err
		}
		p.functions[name] = n.List[2:]
		return nil
	case "allow", "deny":
		return p.rule(n)
	}
	return fmt.Errorf("%q is neither allow, deny nor define", n.head())
}

// known reports whether the language has the name.
func known(name string) bool {
	_, isFilter := filters[name]
	_, isOperation := operations[name]
	return isFilter || isOperation || strings.HasPrefix(name, "require-") || name == "param"
}

// rule takes (allow OPERATION... FILTER...).
func (p *Profile) rule(n Node) error {
	var ops []string
	rest := n.List[1:]
	for len(rest) > 0 && rest[0].Kind == Symbol {
		if _, ok := operations[rest[0].Text]; !ok {
			return fmt.Errorf("unknown operation %s", rest[0].Text)
		}
		ops = append(ops, rest[0].Text)
		rest = rest[1:]
	}
	if len(ops) == 0 {
		return errors.New("a rule without an operation")
	}
	for _, filter := range rest {
		if err := p.check(filter, ops); err != nil {
			return err
		}
	}
	for _, op := range ops {
		p.Rules = append(p.Rules, Rule{Allow: n.head() == "allow", Operation: op, Filters: rest})
	}
	return nil
}

// check refuses a filter that is unknown or does not fit one of the
// operations. In a define the operations are not known yet.
func (p *Profile) check(n Node, ops []string) error {
	name := n.head()
	arguments := n.List[min(1, len(n.List)):]
	switch name {
	case "require-all", "require-any", "require-not":
		if len(arguments) == 0 || name == "require-not" && len(arguments) != 1 {
			return fmt.Errorf("%s with %d arguments", name, len(arguments))
		}
		for _, a := range arguments {
			if err := p.check(a, ops); err != nil {
				return err
			}
		}
		return nil
	}
	if body, ok := p.functions[name]; ok {
		if len(arguments) != 0 {
			return fmt.Errorf("%s takes no arguments", name)
		}
		return p.check(body[0], ops)
	}
	f, ok := filters[name]
	if !ok {
		return fmt.Errorf("unknown filter %q", name)
	}
	if len(arguments) != len(f.arguments) {
		return fmt.Errorf("%s with %d arguments and not %d", name, len(arguments), len(f.arguments))
	}
	for i, a := range arguments {
		if err := p.checkArgument(a, f.arguments[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, op := range ops {
		if !slices.ContainsFunc(f.operations, func(prefix string) bool { return strings.HasPrefix(op, prefix) }) {
			return fmt.Errorf("%s is no filter for %s", name, op)
		}
	}
	return nil
}

var addressForm = regexp.MustCompile(`^(?:localhost|\*):(?:\*|[1-9][0-9]{0,4})$`)

func (p *Profile) checkArgument(a Node, want string) error {
	if a.Kind == String || a.Kind == Regex {
		p.strings = append(p.strings, a.Text)
	}
	switch want {
	case "string":
		if a.head() == "param" {
			return p.checkParam(a)
		}
		if a.Kind != String || a.Text == "" {
			return fmt.Errorf("%q is neither a string nor a parameter", a.Text)
		}
	case "regex":
		if a.Kind != Regex {
			return fmt.Errorf("%q is no regular expression", a.Text)
		}
		if _, err := regexp.Compile(a.Text); err != nil {
			return err
		}
	case "address":
		if a.Kind != String || !addressForm.MatchString(a.Text) {
			return fmt.Errorf("%q is neither localhost nor any host with a port", a.Text)
		}
		_, port, _ := strings.Cut(a.Text, ":")
		if n, err := strconv.Atoi(port); err == nil && n > 65535 {
			return fmt.Errorf("%d is no port", n)
		}
	default:
		if a.Kind != Symbol || !slices.Contains(strings.Fields(want), a.Text) {
			return fmt.Errorf("%q is none of %s", a.Text, want)
		}
	}
	return nil
}

func (p *Profile) checkParam(a Node) error {
	if len(a.List) != 2 || a.List[1].Kind != String {
		return errors.New("a parameter without its name")
	}
	name := a.List[1].Text
	if _, ok := p.params[name]; !ok {
		return fmt.Errorf("the parameter %s has no value", name)
	}
	p.used[name] = true
	return nil
}
