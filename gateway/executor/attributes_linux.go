package executor

import (
	"strings"

	"golang.org/x/sys/unix"
)

const noAttribute = unix.ENODATA

// systemOwned reports attributes that belong to the file system itself and say
// nothing of the file as its user knows it. Labels are set by policy.
func systemOwned(name string) bool {
	return strings.HasPrefix(name, "trusted.overlay.") || strings.HasPrefix(name, "btrfs.")
}

// binding reports an attribute that is bound to the content or gives it rights,
// so that a changed file may not have it.
func binding(name string) bool {
	return name == "security.capability" || name == "security.ima" || name == "security.evm"
}

// systemAttributes: on Linux everything is an extended attribute. Flags of
// chattr say how the file system stores a file, and stay with the old one; a
// file that may not be changed cannot be replaced either.
type systemAttributes struct{}

func systemAttributesOf(int, *unix.Stat_t) (systemAttributes, error) { return systemAttributes{}, nil }

func (systemAttributes) apply(int) error { return nil }
