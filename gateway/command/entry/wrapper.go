package entry

import (
	"slices"
	"strings"
)

// wrapper is a program that runs the one it names, and how it names it. Options
// end at the first argument that is none, at "--", or where quiet says that
// nothing is run.
type wrapper struct {
	names string
	// sub are the words, apart by "|", of which some have to come first for it to
	// be a wrapper: "npm exec".
	sub string
	// value are letters of options with a value, rest are letters whose value,
	// if any, is the rest of the same argument, flags are all others. A letter
	// in quiet ends it: nothing is run.
	value, rest, flags, quiet string
	// longValue, longFlags and longQuiet are the same for long options.
	longValue, longFlags, longQuiet string
	// line is an option whose value is a command line for a shell, split one
	// whose value is cut into arguments, pkg one that names a package.
	line, split, pkg string
	// skip is how many arguments stand before the program, more says that
	// options may follow them.
	skip int
	more bool
	// assigns says that NAME=VALUE may stand before the program, digits that
	// "-10" is an option, single that long options begin with one hyphen.
	assigns, digits, single bool
	// isLine says that the program may be a command line in one argument.
	isLine bool
	// isPackage says that the program is named as a package.
	isPackage bool
}

var wrappers = []wrapper{
	{names: "env genv", value: "uCPa", flags: "i0v", longValue: "--unset --chdir --argv0",
		longFlags: "--ignore-environment --null --debug --block-signal --default-signal --ignore-signal --list-signal-handling",
		split:     "-S --split-string", assigns: true},
	{names: "nice gnice", value: "n", longValue: "--adjustment", digits: true},
	{names: "nohup gnohup command exec builtin catchsegv", value: "a", flags: "pcl", quiet: "vV"},
	{names: "timeout gtimeout", value: "ks", flags: "fpv", longValue: "--kill-after --signal", longFlags: "--foreground --preserve-status --verbose", skip: 1},
	{names: "time gtime", value: "fo", flags: "apvqhl", longValue: "--format --output", longFlags: "--append --portability --verbose --quiet"},
	{names: "setsid", flags: "cfw", longFlags: "--ctty --fork --wait"},
	{names: "stdbuf gstdbuf", value: "ioe", longValue: "--input --output --error"},
	{names: "caffeinate", value: "tw", flags: "dimsu"},
	{names: "ionice", value: "cn", flags: "t", quiet: "pPu", longValue: "--class --classdata", longFlags: "--ignore"},
	{names: "chrt", value: "TPD", flags: "abdfiorvR", quiet: "pm", skip: 1,
		longValue: "--sched-runtime --sched-period --sched-deadline", longFlags: "--batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose"},
	{names: "taskset", flags: "ac", quiet: "p", longFlags: "--all-tasks --cpu-list", skip: 1},
	{names: "flock", value: "wE", flags: "nxsueoFv", longValue: "--timeout --wait --conflict-exit-code", line: "-c --command",
		longFlags: "--nonblock --nb --exclusive --shared --unlock --close --no-fork --verbose", skip: 1, more: true},
	{names: "script", value: "EIOBTmo", flags: "aefqkrdpF", line: "-c --command", skip: 1, more: true,
		longValue: "--echo --log-in --log-out --log-io --log-timing --logging-format --output-limit",
		longFlags: "--append --return --flush --force --quiet --timing"},
	{names: "unbuffer setpriv fakeroot dbus-run-session rlwrap", flags: "p"},
	{names: "watch", value: "nq", flags: "bcdegprtwx", longValue: "--interval --equexit", isLine: true,
		longFlags: "--beep --color --differences --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec"},
	{names: "arch", value: "de", flags: "ch", single: true},
	{names: "setarch linux32 linux64", flags: "BFILRSTXZv3"},
	{names: "xvfb-run", value: "efnpsw", flags: "al", longValue: "--error-file --auth-file --server-num --xauth-protocol --server-args --wait", longFlags: "--auto-servernum --listen-tcp"},
	{names: "entr", flags: "acdnprsxz"},
	{names: "busybox toybox coreutils gcoreutils"},
	{names: "xargs gxargs", value: "adEILnPsJRS", rest: "eil", flags: "0optrx",
		longValue: "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
		longFlags: "--null --eof --replace --max-lines --interactive --no-run-if-empty --show-limits --verbose --exit --open-tty"},
	{names: "parallel", value: "jaINnLsSdC", flags: "0kmXquvtr", isLine: true,
		longValue: "--jobs --max-procs --arg-file --arg-sep --colsep --delay --delimiter --halt --joblog --load --max-args --max-replace-args --memfree --results --retries --shuf --tagstring --timeout --tmpdir --workdir --wd",
		longFlags: "--bar --eta --dry-run --dryrun --group --keep-order --line-buffer --lb --linebuffer --no-notice --null --pipe --progress --quote --resume --tag --ungroup --verbose --will-cite --xargs"},
	{names: "npx pnpx bunx", flags: "yq", pkg: "-p --package", line: "-c --call", longValue: "--prefix --workspace --registry",
		longFlags: "--yes --no --quiet --bun --silent --no-install --offline --prefer-offline", isPackage: true},
	{names: "npm pnpm yarn", sub: "exec|x|dlx", flags: "yqcs", pkg: "-p --package", longFlags: "--yes --no --quiet --silent --offline --prefer-offline --shell-mode", line: "--call", isPackage: true},
	{names: "bun", sub: "x", longFlags: "--bun --silent", isPackage: true},
	{names: "uvx", pkg: "--from --with", value: "p", flags: "qvn", longValue: "--python", longFlags: "--offline --quiet --isolated --no-cache", isPackage: true},
	{names: "uv", sub: "run|tool run", pkg: "--with --from", value: "pm", flags: "qvn", longValue: "--python --project --directory --extra --group", longFlags: "--offline --frozen --locked --no-sync --quiet --isolated --all-extras --no-project", isPackage: true},
	{names: "pipx", sub: "run", pkg: "--spec", flags: "v", longValue: "--python --pip-args --index-url", longFlags: "--no-cache --pypackages --verbose", isPackage: true},
	{names: "poetry pipenv bundle rye pdm hatch", sub: "run|exec", flags: "q"},
	{names: "mise direnv asdf", sub: "exec|x"},
}

// loader is the dynamic loader, which runs the program that it is given.
var loader = wrapper{longValue: "--library-path --inhibit-rpath --preload --audit --argv0 --glibc-hwcaps-mask --glibc-hwcaps-prepend", longFlags: "--inhibit-cache",
	longQuiet: "--list --verify --list-tunables --list-diagnostics"}

// wrapperFor returns how a program with these arguments wraps another, or nil.
func wrapperFor(at location, args []string) *wrapper {
	if strings.HasPrefix(at.name, "ld-linux") || strings.HasPrefix(at.name, "ld-musl") || at.name == "ld.so" || at.name == "ld-2.so" {
		return &loader
	}
	if !at.tool {
		return nil
	}
	for i := range wrappers {
		w := &wrappers[i]
		if slices.Contains(strings.Fields(w.names), at.name) && (w.sub == "" || w.subEnd(args) >= 0) {
			return w
		}
	}
	return nil
}

// subEnd returns where the words end that make a wrapper of the program, or -1.
func (w *wrapper) subEnd(args []string) int {
	first := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if first < 0 {
		return -1
	}
	for words := range strings.SplitSeq(w.sub, "|") {
		want := strings.Fields(words)
		if end := first + len(want); end <= len(args) && slices.Equal(args[first:end], want) {
			return end
		}
	}
	return -1
}

// inner is what a wrapper runs.
type inner struct {
	argv []string
	// lines are command lines for a shell.
	lines []string
	// packages are what it installs first.
	packages []string
	// uncertain says that an option is not known, so that the program may stand
	// anywhere in argv.
	uncertain bool
}

// unwrap goes over the options and what else stands before the program.
func (w *wrapper) unwrap(args []string) inner {
	var in inner
	if w.sub != "" {
		args = args[w.subEnd(args):]
	}
	skip := w.skip
	for options := true; len(args) > 0 && len(args) <= maxArgs; {
		arg := args[0]
		switch {
		case options && arg == "--":
			options, args = false, args[1:]
		case options && len(arg) > 1 && arg[0] == '-':
			var known, runs bool
			if args, known, runs = w.option(args, &in); !runs {
				return in
			}
			if !known {
				in.argv, in.uncertain = args, true
				return in
			}
		case w.assigns && (arg == "-" || strings.IndexByte(arg, '=') > 0):
			args = args[1:]
			options = options && arg == "-"
		case skip > 0:
			skip--
			args, options = args[1:], w.more
			if len(args) > 0 && args[0] == "--" {
				args, options = args[1:], false
			}
		default:
			return w.named(args, in)
		}
	}
	in.argv = args
	return in
}

// named takes the program at the head of args.
func (w *wrapper) named(args []string, in inner) inner {
	switch {
	case w.isLine && strings.HasPrefix(args[0], ":::"): // parallel's input is the commands
		in.lines = append(in.lines, args[1:]...)
	case w.isLine && strings.ContainsAny(args[0], " \t\n"):
		in.lines = append(in.lines, args[0])
	case w.isPackage:
		in.packages = append(in.packages, args[0])
		in.argv = append([]string{packageName(args[0])}, args[1:]...)
	default:
		in.argv = args
	}
	return in
}

// option takes one option, and its value, off args. It reports whether it knows
// it, and whether a program runs after it.
func (w *wrapper) option(args []string, in *inner) (rest []string, known, runs bool) {
	arg := args[0]
	if w.digits && strings.Trim(arg, "-+0123456789") == "" {
		return args[1:], true, true
	}
	name, value, attached := strings.Cut(arg, "=")
	if strings.HasPrefix(arg, "--") {
		return w.long(name, value, attached, args, in)
	}
	if w.single && len(arg) > 2 && !strings.HasPrefix(arg, "-d") && !strings.HasPrefix(arg, "-e") {
		if arg == "-arch" {
			return args[min(2, len(args)):], true, true
		}
		return args[1:], true, true
	}
	for i := 1; i < len(arg); i++ {
		letter := arg[i : i+1]
		switch {
		case strings.Contains(w.flags, letter):
		case strings.Contains(w.quiet, letter):
			return nil, true, false
		case strings.Contains(w.rest, letter):
			return args[1:], true, true
		case strings.Contains(w.value, letter) || w.special("-"+letter):
			if i+1 < len(arg) {
				return w.take("-"+letter, arg[i+1:], args[1:], in), true, true
			}
			if len(args) < 2 {
				return nil, true, false
			}
			return w.take("-"+letter, args[1], args[2:], in), true, true
		default:
			return args[1:], false, true
		}
	}
	return args[1:], true, true
}

func (w *wrapper) long(name, value string, attached bool, args []string, in *inner) (rest []string, known, runs bool) {
	option, takes := w.meaning(name)
	switch {
	case name == "--help" || name == "--version" || slices.Contains(strings.Fields(w.longQuiet), name):
		return nil, true, false
	case attached:
		return w.take(option, value, args[1:], in), true, true
	case option == "":
		return args[1:], false, true
	case !takes:
		return args[1:], true, true
	case len(args) < 2:
		return nil, true, false
	default:
		return w.take(option, args[1], args[2:], in), true, true
	}
}

// meaning returns the long option that name is or abbreviates, "" if that is
// unknown or ambiguous, and whether it takes a value.
func (w *wrapper) meaning(name string) (option string, takes bool) {
	valued := strings.Fields(w.longValue + " " + w.line + " " + w.split + " " + w.pkg)
	for _, o := range valued {
		if o == name {
			return o, true
		}
	}
	flags := strings.Fields(w.longFlags)
	if slices.Contains(flags, name) {
		return name, false
	}
	for i, o := range append(valued, flags...) {
		if strings.HasPrefix(o, name) {
			if option != "" && takes != (i < len(valued)) {
				return "", false
			}
			option, takes = o, i < len(valued)
		}
	}
	return option, takes
}

// special reports whether an option's value is more than a value.
func (w *wrapper) special(option string) bool {
	return slices.Contains(strings.Fields(w.line+" "+w.split+" "+w.pkg), option)
}

// take uses up the value of an option and returns the arguments after it.
func (w *wrapper) take(option, value string, rest []string, in *inner) []string {
	switch {
	case slices.Contains(strings.Fields(w.line), option):
		in.lines = append(in.lines, value)
	case slices.Contains(strings.Fields(w.pkg), option):
		in.packages = append(in.packages, value)
	case slices.Contains(strings.Fields(w.split), option):
		return append(split(value), rest...)
	}
	return rest
}
