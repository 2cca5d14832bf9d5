package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// useDeveloperTools puts the folders of Apple's developer tools in front of
// /usr/bin, where macOS has stand-ins for git, make, clang and python3: those
// ask a service which tool is meant, and write down what it says, neither of
// which commands can do. root is "/" but in tests.
func (e *environment) useDeveloperTools(root string) {
	dir, err := os.Readlink(filepath.Join(root, "var/db/xcode_select_link"))
	if err != nil {
		for _, usual := range []string{"Applications/Xcode.app/Contents/Developer", "Library/Developer/CommandLineTools"} {
			if path := filepath.Join(root, usual); exists(path) {
				dir = path
				break
			}
		}
	}
	if !filepath.IsAbs(dir) || !exists(dir) {
		return // nobody installed them
	}
	var tools []string
	for _, sub := range []string{"usr/bin", "Toolchains/XcodeDefault.xctoolchain/usr/bin"} {
		if path := filepath.Join(dir, sub); exists(path) {
			tools = append(tools, path)
		}
	}
	at := slices.Index(e.path, "/usr/bin")
	if at < 0 {
		at = len(e.path)
	}
	e.path = slices.Insert(e.path, at, tools...)
	e.vars = append(e.vars, "xcrun_nocache=1")
	if !slices.ContainsFunc(e.vars, func(v string) bool { return strings.HasPrefix(v, "DEVELOPER_DIR=") }) {
		e.vars = append(e.vars, "DEVELOPER_DIR="+dir)
	}
}
