// Package entry says which programs a command may not begin with.
//
// Its rules are a courtesy: they answer at once, and with a reason, what the
// sandbox would let fail in the middle. The sandbox is the boundary. So these
// rules look at the arguments alone, never at the disk, and a program that they
// do not recognise may run: `sh -c`, interpreters, scripts of the project and
// readers of Git are allowed and contained.
//
// The rules:
//
//	A01  programs that act as another user: sudo, su, doas, pkexec …
//	A02  deleting, moving and overwriting: rm, mv, shred, dd, install, ln -f …
//	A03  control of the system and of processes: systemctl, kill, crontab …
//	A04  the desktop and the keychain: open, osascript, security, pbcopy …
//	A05  command lines of models: claude, codex, gemini …, also by path, as
//	     `node …/cli.js`, and through npx, bunx, uvx, pipx and the like
//	A06  containers and network clients: docker, ssh, curl, gh …
//	A09  find with -exec, -execdir, -ok, -okdir, -delete, -fls, -fprint*
//	A10  rg with --pre, --pre-glob, --hostname-bin, and what abbreviates them
//
// A wrapper (rule A08) is a program that runs the one it names: env, nice,
// nohup, timeout, xargs, busybox and the like, as deep as they are nested. The
// rules hold for the program behind it. An option that is not known here makes
// it uncertain where that program stands; then every argument after it counts as
// a program.
//
// A rule about a program's name holds for the bare name and for its path in a
// folder of the system or of the user's tools. "./open" is a script of the
// project and may run; "/usr/bin/open" and "../../usr/bin/open" may not. Names
// are compared without regard to case, as macOS looks them up.
//
// Not covered: a program under another name (copy, link), and what a shell or an
// interpreter is told to do. Who knows the disk asks once more about the real
// path of the program alone.
package entry
