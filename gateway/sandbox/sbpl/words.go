package sbpl

import "strings"

// operations are the known ones with the wildcard that each belongs to. Those
// that are their own group belong to default.
var operations = parents(map[string]string{
	"default": "",
	"file*": `file-chroot file-clone file-ioctl file-issue-extension* file-link file-map-executable
		file-mknod file-mount file-mount-update file-read* file-revoke file-search
		file-test-existence file-unmount file-write*`,
	"file-read*": "file-read-data file-read-metadata file-read-xattr",
	"file-write*": `file-write-acl file-write-create file-write-data file-write-flags file-write-mode
		file-write-owner file-write-setugid file-write-times file-write-unlink file-write-xattr`,
	"iokit*":               "iokit-get-properties iokit-open iokit-set-properties",
	"ipc*":                 "ipc-posix* ipc-sysv*",
	"ipc-posix*":           "ipc-posix-sem ipc-posix-shm*",
	"ipc-posix-shm*":       "ipc-posix-shm-read* ipc-posix-shm-write*",
	"ipc-posix-shm-read*":  "ipc-posix-shm-read-data ipc-posix-shm-read-metadata",
	"ipc-posix-shm-write*": "ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink",
	"ipc-sysv*":            "ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm",
	"mach*": `mach-bootstrap mach-cross-domain-lookup mach-lookup mach-per-user-lookup mach-priv*
		mach-register mach-task-name`,
	"mach-priv*":    "mach-priv-host-port mach-priv-task-port",
	"network*":      "network-bind network-inbound network-outbound",
	"nvram*":        "nvram-delete nvram-get nvram-set",
	"process*":      "process-exec* process-fork process-info*",
	"process-exec*": "process-exec process-exec-interpreter",
	"process-info*": `process-info-codesignature process-info-dirtycontrol process-info-listpids
		process-info-pidfdinfo process-info-pidfileportinfo process-info-pidinfo
		process-info-rusage process-info-setcontrol`,
	"sysctl*": "sysctl-read sysctl-write",
	"system*": `system-audit system-fsctl system-info system-kext* system-privilege system-reboot
		system-sched system-set-time system-socket system-swap`,
	"user-preference*": "user-preference-managed user-preference-read user-preference-write",
}, `appleevent-send authorization-right-obtain darwin-notification-post device*
	distributed-notification-post dynamic-code-generation generic-issue-extension hid-control
	job-creation lsopen pseudo-tty signal`)

func parents(groups map[string]string, alone string) map[string]string {
	all := map[string]string{}
	for group, members := range groups {
		for _, member := range strings.Fields(members) {
			all[member] = group
		}
	}
	for _, op := range strings.Fields(alone) {
		all[op] = "default"
	}
	for group := range groups {
		if _, ok := all[group]; !ok && group != "default" {
			all[group] = "default"
		}
	}
	all["default"] = ""
	return all
}

// filter is one kind of condition.
type filter struct {
	// arguments are what follows the name: "string" is a string or a parameter.
	arguments []string
	// operations are the beginnings of the names of those it is for.
	operations []string
}

var (
	onFiles   = []string{"file", "process-exec"}
	onProcess = []string{"process-info", "signal", "mach-task-name", "mach-priv"}
)

// filters are the known ones but for require-all, require-any and require-not.
var filters = map[string]filter{
	"literal":            {[]string{"string"}, onFiles},
	"subpath":            {[]string{"string"}, onFiles},
	"regex":              {[]string{"regex"}, onFiles},
	"vnode-type":         {[]string{"REGULAR-FILE DIRECTORY CHARACTER-DEVICE BLOCK-DEVICE SYMLINK SOCKET FIFO"}, []string{"file"}},
	"global-name":        {[]string{"string"}, []string{"mach-lookup", "mach-register"}},
	"local-name":         {[]string{"string"}, []string{"mach-lookup", "mach-register"}},
	"ipc-posix-name":     {[]string{"string"}, []string{"ipc-posix"}},
	"sysctl-name":        {[]string{"string"}, []string{"sysctl"}},
	"sysctl-name-prefix": {[]string{"string"}, []string{"sysctl"}},
	"target":             {[]string{"self same-sandbox pgrp children others"}, onProcess},
	"remote":             {[]string{"tcp udp ip", "address"}, []string{"network-outbound"}},
}
