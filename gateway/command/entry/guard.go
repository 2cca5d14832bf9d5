package entry

import (
	"slices"
	"strings"
)

// guard looks at the arguments of a program that may run, but not in every way.
type guard struct {
	is    func(name string) bool
	check func(c *check, argv []string) *breach
}

func called(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

var guards = []guard{
	{called("find", "gfind", "bfs"), find},
	{called("rg", "ripgrep"), ripgrep},
	{called("ln", "gln"), link},
	{isInterpreter, interpreter},
}

// findActions are what find does beside listing.
var findActions = []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}

// findValues are find's tests that take an argument, which is no action
// whatever it reads.
var findValues = []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname",
	"-newer", "-anewer", "-cnewer", "-user", "-group", "-uid", "-gid", "-perm", "-size", "-type", "-xtype", "-mtime", "-atime", "-ctime",
	"-mmin", "-amin", "-cmin", "-used", "-links", "-inum", "-samefile", "-fstype", "-maxdepth", "-mindepth", "-printf", "-regextype", "-context", "-files0-from"}

func find(c *check, argv []string) *breach {
	for i := 1; i < len(argv); i++ {
		switch {
		case slices.Contains(findActions, argv[i]):
			return c.breach("A09", argv[0]+" "+argv[i], "runs programs, deletes or writes files; let find list them only")
		case slices.Contains(findValues, argv[i]) || len(argv[i]) == len("-newerXY") && strings.HasPrefix(argv[i], "-newer"):
			i++
		}
	}
	return nil
}

// What rg's options with a value are called; a value is no option.
const rgLetters = "ABCEMTdefgjmrt"

var rgValues = strings.Fields("--after-context --before-context --context --encoding --max-columns --type-not --max-depth --maxdepth --regexp --file --glob --threads --max-count --replace --type " +
	"--iglob --color --colors --context-separator --dfa-size-limit --engine --field-context-separator --field-match-separator --generate --hyperlink-format --ignore-file --max-filesize --path-separator --regex-size-limit --sort --sortr --type-add --type-clear")

func ripgrep(c *check, argv []string) *breach {
	for i := 1; i < len(argv); i++ {
		arg := argv[i]
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return nil
		case abbreviates(name, "--pre", "--pr") || abbreviates(name, "--pre-glob", "--pre-") || abbreviates(name, "--hostname-bin", "--ho"):
			return c.breach("A10", argv[0]+" "+name, "makes the search run a program")
		case strings.HasPrefix(arg, "--"):
			if slices.Contains(rgValues, arg) {
				i++
			}
		case len(arg) > 1 && arg[0] == '-' && strings.IndexAny(arg, rgLetters) == len(arg)-1:
			i++
		}
	}
	return nil
}

// abbreviates reports whether name is option, or the beginning of it from least
// on.
func abbreviates(name, option, least string) bool {
	return strings.HasPrefix(option, name) && strings.HasPrefix(name, least)
}

// link refuses to put a link in the place of something.
func link(c *check, argv []string) *breach {
	for i := 1; i < len(argv) && argv[i] != "--"; i++ {
		arg := argv[i]
		force := abbreviates(arg, "--force", "--f")
		if len(arg) > 1 && arg[0] == '-' && arg[1] != '-' {
			letters := arg[1:]
			if at := strings.IndexAny(letters, "St"); at >= 0 { // the rest is a value
				if at == len(letters)-1 {
					i++
				}
				letters = letters[:at]
			}
			force = strings.ContainsAny(letters, "fF")
		}
		if force {
			return c.breach("A02", argv[0]+" "+arg, "puts a link in the place of what is there")
		}
	}
	return nil
}

// interpreterValues are options of interpreters that take a value.
var interpreterValues = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-W", "-X", "--env-file", "--config", "--tsconfig"}

// interpreter refuses the file or module of a model's command line. The options
// of interpreters are many, so each argument up to the first that looks like a
// file counts as the program.
func interpreter(c *check, argv []string) *breach {
	for i := 1; i < len(argv); i++ {
		arg := strings.ToLower(argv[i])
		switch at := locate(arg); {
		case at.path != "" && ruleFor(at) == &models, strings.HasPrefix(arg, "npm:") && modelPackage(arg):
			return c.breach("A05", argv[i], whyModel)
		case arg == "-m" && i+1 < len(argv):
			if module, _, _ := strings.Cut(argv[i+1], "."); models.names[strings.ToLower(module)] {
				return c.breach("A05", argv[0]+" -m "+argv[i+1], whyModel)
			}
			return nil
		case slices.Contains(interpreterValues, argv[i]):
			i++
		case slices.Contains([]string{"-e", "-p", "-c", "--eval", "--print"}, argv[i]):
			return nil
		case !strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "./"):
			return nil
		}
	}
	return nil
}
