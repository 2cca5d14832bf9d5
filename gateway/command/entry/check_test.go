package entry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// refused are command lines, cut at blanks, and the rule that each breaks. A
// "¤" stands for a blank within an argument.
var refused = map[string]string{
	// A01 to A04 and A06: by name, whatever follows, and by path.
	"sudo ls": "A01", "su - root": "A01", "doas ls": "A01", "pkexec ls": "A01", "login": "A01", "runuser -u me ls": "A01", "sudoedit /etc/hosts": "A01",
	"rm -rf build": "A02", "rmdir x": "A02", "mv a b": "A02", "unlink x": "A02", "shred x": "A02", "dd if=/dev/zero of=x": "A02", "truncate -s 0 x": "A02",
	"install -m 755 a b": "A02", "ln -f a b": "A02", "ln -sf a b": "A02", "ln -s -f a b": "A02", "ln --force a b": "A02", "ln --fo a b": "A02", "ln -S .bak -f a b": "A02", "grm x": "A02",
	"/bin/rm x": "A02", "/usr/bin/rm x": "A02", "//usr//bin/./rm x": "A02", "/usr/lib/../bin/mv a b": "A02", "../../../usr/bin/rm x": "A02", "../../bin/rm x": "A02",
	"/proc/self/root/bin/rm x": "A02", "/proc/1/root/usr/bin/rm x": "A02", "/opt/homebrew/bin/gmv a b": "A02", "/nix/store/abc-coreutils/bin/rm x": "A02", "RM x": "A02", "/usr/local/bin/Trash x": "A02",
	"/opt/homebrew/opt/coreutils/libexec/gnubin/rm x": "A02", "/home/me/.local/bin/rm x": "A02", "/run/current-system/sw/bin/mv a b": "A02",
	"launchctl list": "A03", "systemctl stop x": "A03", "service x stop": "A03", "shutdown -h now": "A03", "reboot": "A03", "halt": "A03", "kill 1": "A03", "pkill x": "A03", "killall x": "A03", "crontab -e": "A03", "at now": "A03", "systemd-run ls": "A03",
	"open .": "A04", "/usr/bin/open -a Calculator": "A04", "/USR/BIN/OPEN x": "A04", "osascript -e x": "A04", "security dump-keychain": "A04", "defaults write a b": "A04", "tccutil reset All": "A04", "pbcopy": "A04", "pbpaste": "A04", "xdg-open x": "A04",
	"docker ps": "A06", "podman run x": "A06", "kubectl get pods": "A06", "ssh host": "A06", "scp a b:": "A06", "rsync a b": "A06", "curl http://x": "A06", "wget x": "A06", "nc -l 1": "A06", "socat a b": "A06", "gh pr list": "A06", "/home/me/.docker/bin/docker ps": "A06",

	// A05: by name, by path, as a file of an interpreter, through a launcher.
	"claude -p hi": "A05", "codex exec x": "A05", "gemini": "A05", "opencode run x": "A05", "aider": "A05", "goose session": "A05", "amp": "A05", "copilot": "A05", "cursor-agent": "A05", "Claude": "A05",
	"/home/me/.npm-global/bin/claude -p x": "A05", "/opt/x/claude": "A05", "../tools/codex": "A05", "node_modules/.bin/gemini": "A05", "./node_modules/.bin/claude -p x": "A05", ".venv/bin/aider": "A05",
	"node /home/me/.npm-global/lib/node_modules/@anthropic-ai/claude-code/cli.js -p x": "A05", "node --max-old-space-size=4096 node_modules/@openai/codex/bin/codex.js": "A05", "node -r ./x.js node_modules/@google/gemini-cli/dist/index.js": "A05",
	"/usr/local/lib/node_modules/@anthropic-ai/claude-code/cli.js": "A05", "node node_modules/.bin/claude": "A05", "bun node_modules/@openai/codex/x.js": "A05", "deno run -A npm:@anthropic-ai/claude-code": "A05",
	"python3 -m aider": "A05", "python3.12 -m aider.main": "A05",
	"npx claude": "A05", "npx -y @anthropic-ai/claude-code -p x": "A05", "npx --yes @openai/codex@latest": "A05", "npx -p @openai/codex node x.js": "A05", "npx --package=@google/gemini-cli gemini": "A05", "npx --package @google/gemini-cli x": "A05",
	"npm exec -- @anthropic-ai/claude-code@2": "A05", "npm x @openai/codex": "A05", "npm exec --package=@openai/codex -- x": "A05", "pnpm dlx @openai/codex": "A05", "yarn dlx opencode-ai": "A05", "pnpm exec claude": "A05",
	"bunx @anthropic-ai/claude-code": "A05", "bun x @openai/codex": "A05", "uvx aider-chat": "A05", "uvx --from aider-chat==0.80 aider": "A05", "uvx --from aider-chat[all] x": "A05", "uv tool run aider-chat": "A05", "uv run aider": "A05", "pipx run aider-chat": "A05", "pipx run --spec aider-chat x": "A05",

	// A08: behind wrappers, as deep as they are nested.
	"env rm x": "A02", "env -i PATH=/bin A=b rm x": "A02", "env -u HOME rm x": "A02", "env -uHOME rm x": "A02", "env --unset=A rm x": "A02", "env --unset A rm x": "A02", "env --uns A rm x": "A02", "env - rm x": "A02", "env -- rm x": "A02", "env -C /tmp rm x": "A02", "/usr/bin/env rm x": "A02", "genv rm x": "A02",
	"env -S rm¤x": "A02", "env -Srm¤x": "A02", "env -iS rm¤x": "A02", "env --split-string=rm¤x": "A02", "env --split-string rm¤x": "A02", "env --sp rm¤x": "A02", "env -S A=b¤rm x": "A02", "env -S -i¤rm¤x": "A02", "env -S 'rm'¤x": "A02", "env -S \"r\"m¤x": "A02", "env -S r\\m¤x": "A02", "env -S rm\\_x": "A02", "env -S -S¤'rm¤x'": "A02", "env -S nice¤rm x": "A02",
	"nice rm x": "A02", "nice -n 5 rm x": "A02", "nice -n5 rm x": "A02", "nice -5 rm x": "A02", "nice --5 rm x": "A02", "nice --adjustment=5 rm x": "A02", "nice --adj 5 rm x": "A02",
	"nohup rm x": "A02", "timeout 5 rm x": "A02", "timeout -k 1 -s KILL 5 rm x": "A02", "timeout -sKILL 5 rm x": "A02", "timeout --signal=9 --foreground 5s rm x": "A02", "timeout --kill-after 1 5 rm x": "A02", "gtimeout 5 rm x": "A02",
	"time rm x": "A02", "time -p rm x": "A02", "time -f %e -o out rm x": "A02", "setsid rm x": "A02", "setsid -fw rm x": "A02", "stdbuf -oL rm x": "A02", "stdbuf -o L -e0 rm x": "A02", "stdbuf --output=L rm x": "A02",
	"xargs rm": "A02", "xargs -0 rm": "A02", "xargs -n 1 -P4 rm -f": "A02", "xargs -I {} rm {}": "A02", "xargs -I{} rm {}": "A02", "xargs -i rm {}": "A02", "xargs --max-args=1 --no-run-if-empty rm": "A02", "xargs -a list -d , curl": "A06", "xargs -r0 rm": "A02", "xargs sudo ls": "A01",
	"parallel rm ::: a b": "A02", "parallel -j 4 rm ::: a": "A02", "parallel rm¤{} ::: a": "A02", "parallel ::: rm¤a rm¤b": "A02", "parallel --unheard-of 4 rm ::: a": "A02",
	"script -q /dev/null rm x": "A02", "script -c rm¤x": "A02", "script -qc rm¤x /dev/null": "A02", "script -q out -c rm¤x": "A02", "script out -- rm x": "A02", "script -t 0 out rm x": "A02", "script --command=A=b¤rm¤x": "A02",
	"caffeinate rm x": "A02", "caffeinate -di -t 60 rm x": "A02", "arch -x86_64 rm x": "A02", "arch -arch x86_64 rm x": "A02", "arch -e A=b -arm64 rm x": "A02", "command rm x": "A02", "command -p rm x": "A02", "exec -a x rm y": "A02",
	"/lib64/ld-linux-x86-64.so.2 /bin/rm x": "A02", "/lib/ld-musl-x86_64.so.1 --library-path /x /bin/rm x": "A02", "busybox rm x": "A02", "/bin/busybox wget x": "A06", "toybox mv a b": "A02",
	"ionice -c 3 rm x": "A02", "chrt -i 0 rm x": "A02", "taskset -c 0 rm x": "A02", "flock /tmp/l rm x": "A02", "flock /tmp/l -c rm¤x": "A02", "flock -w 5 /tmp/l rm x": "A02", "watch rm¤x": "A02", "watch -n 1 rm x": "A02", "setarch -R rm x": "A02",
	"env nice timeout 5 nohup setsid xargs rm": "A02", "nice doas ls": "A01", "env -i timeout 1 claude": "A05", "npx rm x": "A02", "nice npx @openai/codex": "A05", "uv run rm x": "A02", "bundle exec rm x": "A02", "poetry run curl x": "A06",
	"nice --never-heard-of 5 rm x": "A02", "timeout -Z 3 rm x": "A02", "env --never rm x": "A02", "xargs --odd nice --odder rm": "A02",
	strings.Repeat("nice ", 40) + "ls": "A08", strings.Repeat("nice ", 12) + "rm x": "A02",

	// A09 and A10, also behind wrappers.
	"find . -exec rm {} ;": "A09", "find . -name x -execdir ls {} +": "A09", "find . -ok ls {} ;": "A09", "find . -okdir ls ;": "A09", "find . -delete": "A09", "find -delete": "A09", "find . -type f -fls out": "A09", "find . -fprint out": "A09", "find . -fprint0 out": "A09", "find . -fprintf out %p": "A09",
	"find . -newermt 2020-01-01 -delete": "A09", "find . -name a -o -name b -delete": "A09", "find . -print -delete": "A09", "/usr/bin/find / -delete": "A09", "gfind . -delete": "A09", "find . ( -name x -exec ls ; )": "A09", "env find . -delete": "A09", "xargs -I{} find {} -delete": "A09",
	"rg --pre cat x": "A10", "rg --pre=cat x": "A10", "rg --pre-glob *.pdf x": "A10", "rg --pre-glob=*.pdf x": "A10", "rg --hostname-bin x y": "A10", "rg --hostname-bin=x y": "A10", "rg --hostn x y": "A10", "rg --pr cat x": "A10", "rg --pre-g=x y": "A10", "rg foo . --pre cat": "A10", "rg -i -e foo --pre cat": "A10", "rg -A 3 --pre=x y": "A10", "nice rg --pre cat x": "A10",
}

// allowed may all run.
var allowed = []string{
	"ls -la", "cat rm", "echo rm -rf /", "echo sudo", "printf kill", "grep -r sudo .", "grep -rn curl src", "rg sudo", "rg -e --pre .", "rg -- --pre .", "rg --pretty x", "rg --pret x", "rg -g --pre x", "rg -ie --pre .", "rg --regexp --pre", "rg -A --pre x", "rg preprocess", "rg --files",
	"find . -name *.go -print0", "find . -name -delete", "find . -path -exec -prune -o -print", "find . -newer x -type f", "find . -iname rm", "find . -maxdepth 2 -printf %p", "find delete exec", "find . -depth 1",
	"make", "make install", "make -C kill rm", "npm test", "npm run mv-files", "npm run claude-docs", "npm install", "npm ci --offline", "npx jest", "npx --no-install tsc -p .", "npx -y prettier --check rm.js", "npx kill-port 3000", "npm exec -- eslint .", "yarn test", "pnpm run build", "bun test", "bunx vitest", "uvx ruff check", "uv run pytest -k rm", "pipx run black .", "bundle exec rake", "poetry run pytest",
	"go test ./...", "go run ./cmd/open", "go run ./cmd/rm", "go vet ./...", "cargo test --offline", "pytest -k rm", "python3 -m unittest", "python3 -m pytest", "python3 -c import¤os", "python3 setup.py install", "python3 rm.py", "python3 tools/codex.py", "python3 -m venv rm",
	"node --test", "node cli.js", "node ./dist/cli.js claude", "node -e console.log(1)", "node -p 1", "node scripts/gemini.mjs", "node build.js node_modules/@anthropic-ai/claude-code/cli.js", "deno test", "tsx src/index.ts", "node node_modules/.bin/jest",
	"sh -c rm¤-rf¤x", "bash -c kill¤$$", "zsh x.zsh", "bash script.sh rm", "sh ./rm.sh", "fish -c ls",
	"git rm --help", "git mv a b", "git status", "git log --oneline", "git diff", "git -c core.pager=cat log", "git grep sudo",
	"./open", "./rm", "scripts/kill", "bin/open", "./bin/mv a b", "tools/docker ps", "build/claude", "./target/debug/codex --help", "/home/me/project/open", "/srv/app/bin/open x", "/usr/src/app/bin/open", "rm.sh", "x/../open",
	"env", "env A=b", "env -i", "env A=rm make", "env -u rm ls", "env -S ls¤rm", "env -S #rm", "env -S 'rm", "env -C rm ls", "env GOFLAGS=-x go build", "nice", "nice ls rm", "nice -n 5 make", "nohup make", "timeout 5 make rm", "timeout 60 npm test", "timeout -s KILL 5 go test ./...", "timeout kill ls", "time make", "time -o rm make", "time -p go build ./...",
	"xargs", "xargs grep x", "xargs -n1 echo rm", "xargs -I rm echo rm", "xargs sh -c rm", "xargs -0 wc -l", "parallel echo ::: rm mv", "parallel -j4 gzip -k ::: a", "stdbuf -oL make", "setsid make", "script -q /dev/null make", "script -c make¤rm", "caffeinate -i make", "arch", "arch -x86_64 make", "command -v rm", "command -V kill", "which rm", "type rm", "man rm",
	"busybox", "busybox sh -c x", "busybox ls rm", "/lib64/ld-linux-x86-64.so.2 --list /bin/rm", "flock /tmp/rm make", "taskset -p 1", "taskset 1 make", "watch -n 1 ls¤rm", "watch ls", "nice --unheard ls", "nice -5 make rm", "nice --5 echo rm", "nice -n 5 echo rm", "timeout -k 1 -s KILL 5 make kill", "timeout --kill-after 1 --foreground 5 echo rm", "xargs -n 1 -P 4 echo rm", "stdbuf -o L -e0 echo rm",
	"flock -w 5 /tmp/l make rm", "ionice -c 3 -n 2 make rm", "env -u HOME -C /x A=b make rm", "script -q out -c make", "time -f %e -o out echo rm", "taskset -c 0 make rm", "chrt -i 0 make rm", "parallel -j 4 --bar echo ::: rm", "npx -y --quiet prettier rm", "uv run --python 3.12 pytest rm", "../src/open", "../tools/x/kill", "../project/bin/mv a b", "nice --help rm", "timeout --version",
	"ln -s a f", "ln a b", "ln -S f a b", "ln -t f a", "ln -sT a b", "ln -- -f b", "ln -s --suffix=f a b", "cp -f a b", "sed -i s/a/b/ x", "jq . x", "tar -tf x.tar", "touch x", "mkdir rm", "chmod +x kill", "awk {print} x", "sort -o x", "tee x", "ps", "id", "hostname", "claude-lint", "codexgen", "removal", "rmate", "opener", "gitk", "cursor", "goosey", "installer", "dd-trace", "curlie.sh", "sshd_config", "attach", "batch.sh", "ghc --version", "ghci", "npm audit", "mvn test", "killercoda",
	"gcc -o rm rm.c", "ld -o x y.o", "ldd /bin/rm", "..", ".", "/", "./", "-x", "--", "~/rm",
}

func argvOf(line string) []string {
	var argv []string
	for arg := range strings.FieldsSeq(line) {
		argv = append(argv, strings.ReplaceAll(arg, "¤", " "))
	}
	return argv
}

func TestRulesRefuseAndNameThemselves(t *testing.T) {
	for line, rule := range refused {
		err := Check(argvOf(line))
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok {
			t.Errorf("%s: allowed", line)
			continue
		}
		if refusal.Code != turn.CommandRefused || !strings.HasPrefix(refusal.Detail, "rule "+rule+": ") {
			t.Errorf("%s: %v, want rule %s", line, err, rule)
		}
	}
}

func TestOrdinaryCommandsMayRun(t *testing.T) {
	for _, line := range allowed {
		if err := Check(argvOf(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestNoRuleIsAboutArguments puts each name of a rule where it is an argument.
func TestNoRuleIsAboutArguments(t *testing.T) {
	for _, r := range append(slices.Clone(rules), models) {
		for name := range r.names {
			for _, argv := range [][]string{{"echo", name}, {"git", name}, {"make", name}, {"go", "run", "./cmd/" + name}, {"./" + name}, {"sh", name + ".sh"}, {"env", "X=" + name, "make"}, {"timeout", "1", "echo", name}} {
				if err := Check(argv); err != nil {
					t.Errorf("%q: %v", argv, err)
				}
			}
			for _, argv := range [][]string{{name}, {"/usr/bin/" + name}, {strings.ToUpper(name)}, {"env", name}, {"xargs", "-0", name}, {"timeout", "1", "nice", "/bin/" + name, "x"}} {
				if err := Check(argv); err == nil {
					t.Errorf("%q: allowed", argv)
				}
			}
		}
	}
}

func TestMalformedArgumentsAreRefused(t *testing.T) {
	for name, argv := range map[string][]string{
		"nil": nil, "empty": {}, "empty program": {"", "x"}, "NUL in the program": {"l\x00s"}, "NUL in an argument": {"ls", "a\x00"},
		"long argument": {"ls", strings.Repeat("x", maxArg+1)}, "many arguments": slices.Repeat([]string{"x"}, maxArgs+1),
	} {
		err := Check(argv)
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok || refusal.Code != turn.CommandRefused || !strings.HasPrefix(refusal.Detail, "argv") || len(refusal.Detail) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Check([]string{"ls", strings.Repeat("x", maxArg)}); err != nil {
		t.Error(err)
	}
	if err := Check(slices.Repeat([]string{"x"}, maxArgs)); err != nil {
		t.Error(err)
	}
}

// TestNothingIsLookedThroughForEver: what one argument is cut into is bounded as
// the arguments are, so that work grows no faster than by their square.
func TestNothingIsLookedThroughForEver(t *testing.T) {
	for _, many := range []string{strings.Repeat("nice ", maxArgs+1), strings.Repeat("-S ", 2*maxArgs), "nice --odd " + strings.Repeat("find ", maxArgs)} {
		if err := Check([]string{"env", "-S", many + "ls"}); err == nil || !strings.Contains(err.Error(), "rule A08") {
			t.Errorf("%.20q: %v", many, err)
		}
	}
	if err := Check([]string{"env", "-S", "ls " + strings.Repeat("x ", maxArgs-2)}); err != nil {
		t.Error(err)
	}
}

func TestARefusalSaysWhereTheProgramStands(t *testing.T) {
	err := Check([]string{"env", "A=b", "timeout", "5", "/bin/rm", "x"})
	if err == nil || !strings.Contains(err.Error(), `"/bin/rm" deletes`) || !strings.HasSuffix(err.Error(), "(behind env, timeout)") {
		t.Error(err)
	}
	long := Check([]string{"/usr/bin/" + strings.Repeat("../bin/", 9000) + "rm"})
	if long == nil || len(long.Error()) > 400 {
		t.Errorf("%.500v", long)
	}
}

func TestSplitCutsAsEnvDoes(t *testing.T) {
	for in, want := range map[string][]string{
		"":              nil,
		"a b\tc\nd":     {"a", "b", "c", "d"},
		`'a b' "c d"`:   {"a b", "c d"},
		`a\ b`:          {"a b"},
		`a\_b "a\_b"`:   {"a", "b", "a b"},
		`'a\'b'`:        {"a'b"},
		`'a\n'`:         {`a\n`},
		`a #b c`:        {"a"},
		`a#b c`:         {"a#b", "c"},
		`a \c b`:        {"a"},
		`"" x`:          {"", "x"},
		`a "b`:          {"a"},
		`${X}y z`:       {"${X}y", "z"},
		`a"b"'c'd\te f`: {"abcd\te", "f"},
	} {
		if got := split(in); !slices.Equal(got, want) {
			t.Errorf("split(%q) is %q, want %q", in, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for line := range refused {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	for _, line := range allowed {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		argv := strings.Split(text, "\n")
		err := Check(argv)
		if err != nil && utf8.ValidString(text) && !utf8.ValidString(err.Error()) {
			t.Errorf("%q: the reason is no text", argv)
		}
		if malformed(argv) != "" {
			return
		}
		// What is refused is refused behind a wrapper too, and what may run may.
		if behind := Check(append([]string{"timeout", "5"}, argv...)); (behind == nil) != (err == nil) && argv[0][0] != '-' && !strings.Contains(fmt.Sprint(behind), "rule A08") {
			t.Errorf("%q: %v; behind a wrapper %v", argv, err, behind)
		}
	})
}
