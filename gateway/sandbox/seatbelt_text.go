package sandbox

// The parts of a profile that are the same in all of them. Order matters: for
// one operation the last rule that matches counts, and a rule for an operation
// counts more than one for its wildcard.

// seatbeltHead denies everything, and apart what is allowed even then.
const seatbeltHead = `(version 1)
(deny default)
(deny iokit-get-properties process-info* nvram*)

;; Processes. Children inherit the profile; only the own tree can be looked at
;; and signalled.
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
`

// neverRun are programs that ask others to do something: the services they
// need are denied, and this is the second wall.
var neverRun = []string{"/bin/launchctl", "/usr/bin/defaults", "/usr/bin/open", "/usr/bin/osascript",
	"/usr/bin/sandbox-exec", "/usr/bin/security"}

// wholeHidden is left out of the whole view on every machine: temporary
// directories that programs share, secrets of the system, devices (those that a
// program needs are allowed one by one), files by number, memory, and backups
// that hold old copies of hidden files.
var wholeHidden = []string{
	"/private/tmp", "/private/var/tmp", "/private/var/folders",
	"/Library/Keychains", "/private/etc/master.passwd", "/private/var/db/dslocal",
	"/dev", "/.vol", "/cores", "/private/var/vm",
	"/Volumes/.timemachine", "/Volumes/com.apple.TimeMachine.localsnapshots",
}

// envFiles is a filter: .env and .env.something, but not the three that are
// made to be shared.
const envFiles = `(require-any
    (regex #"/\.[eE][nN][vV]$")
    (require-all
      (regex #"/\.[eE][nN][vV]\.[^/]+$")
      (require-not (regex #"/\.[eE][nN][vV]\.([^/]+\.)?([eE][xX][aA][mM][pP][lL][eE]|[sS][aA][mM][pP][lL][eE]|[tT][eE][mM][pP][lL][aA][tT][eE])$"))))`

// baseVisible is a filter: the base system. /System/Volumes holds other names
// of the whole disk, /usr/local what the user installed.
const baseVisible = `(require-any
      (require-all (subpath "/System") (require-not (subpath "/System/Volumes")))
      (subpath "/System/Volumes/Preboot/Cryptexes")
      (require-all (subpath "/usr") (require-not (subpath "/usr/local")))
      (subpath "/bin") (subpath "/sbin")
      (subpath "/Library/Apple") (subpath "/Library/Preferences/Logging")
      (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone")
      (literal "/private/etc/localtime") (literal "/private/etc/passwd")
      (literal "/private/etc/protocols") (literal "/private/etc/services"))`

// seatbeltLinks are directories that every path leads through, and the links
// of the root.
const seatbeltLinks = `
;; The root itself, which the loader opens, and what paths lead through.
(allow file-read* file-test-existence (literal "/"))
(allow file-read-metadata file-test-existence
  (literal "/etc") (literal "/tmp") (literal "/var")
  (literal "/private") (literal "/private/etc") (literal "/private/tmp") (literal "/private/var")
  (literal "/private/var/db") (literal "/private/var/folders") (literal "/private/var/tmp")
  (literal "/Library") (literal "/System/Volumes") (literal "/System/Volumes/Data") (literal "/dev"))
`

// seatbeltDevices: no terminal, no disk, no packet filter.
const seatbeltDevices = `
;; Devices.
(allow file-read* file-test-existence
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/dev/stdin") (literal "/dev/stdout") (literal "/dev/stderr") (subpath "/dev/fd")
  (literal "/dev/autofs_nowait") (literal "/dev/dtracehelper"))
(allow file-write-data (subpath "/dev/fd"))
(allow file-write-data file-ioctl
  (require-all
    (vnode-type CHARACTER-DEVICE)
    (require-any (literal "/dev/null") (literal "/dev/zero"))))
(allow file-ioctl (literal "/dev/dtracehelper"))
`

// seatbeltNever are the exceptions from writing: what would last, or would
// give a file of somebody else's a second name.
const seatbeltNever = `
(deny file-write-setugid)
(deny file-link)
(deny file-mount file-mount-update file-unmount)
`

// seatbeltServices: user names, the temporary directory, notifications, logs.
// None of them acts for its caller.
const seatbeltServices = `
;; Services that the C library needs.
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
(allow ipc-posix-sem)

;; What the machine is. The arguments of other processes have no name here.
(allow sysctl-read
  (sysctl-name "hw.activecpu") (sysctl-name "hw.byteorder") (sysctl-name "hw.cacheconfig")
  (sysctl-name "hw.cachelinesize") (sysctl-name "hw.cachelinesize_compat")
  (sysctl-name "hw.cpufamily") (sysctl-name "hw.cpufrequency") (sysctl-name "hw.cpusubtype")
  (sysctl-name "hw.cputype") (sysctl-name "hw.l1dcachesize") (sysctl-name "hw.l1icachesize")
  (sysctl-name "hw.l2cachesize") (sysctl-name "hw.l3cachesize") (sysctl-name "hw.logicalcpu")
  (sysctl-name "hw.logicalcpu_max") (sysctl-name "hw.machine") (sysctl-name "hw.memsize")
  (sysctl-name "hw.model") (sysctl-name "hw.ncpu") (sysctl-name "hw.nperflevels")
  (sysctl-name "hw.packages") (sysctl-name "hw.pagesize") (sysctl-name "hw.pagesize_compat")
  (sysctl-name "hw.physicalcpu") (sysctl-name "hw.physicalcpu_max") (sysctl-name "hw.vectorunit")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc") (sysctl-name "kern.osproductversion") (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype") (sysctl-name "kern.osvariant_status") (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64") (sysctl-name "kern.version")
  (sysctl-name "machdep.cpu.brand_string") (sysctl-name "sysctl.proc_cputype") (sysctl-name "vm.loadavg")
  (sysctl-name-prefix "hw.optional.") (sysctl-name-prefix "hw.perflevel")
  (sysctl-name-prefix "machdep.cpu."))
`

// seatbeltMark lets the launcher know the processes of this run, whatever they
// do: a profile cannot be left, and no service of that name exists.
const seatbeltMark = `
;; The mark of this run.
(allow mach-lookup (global-name (param "RUN_MARK")))
`
