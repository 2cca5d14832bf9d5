package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the release build; else the version is that of the module
// or of the checkout it was built from.
var release string

// version is what the program calls itself.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupLook,
		Short:   "Print the version",
		Example: `  deckhand version
  deckhand version --json`,
		Args: none,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{"version": version(), "go": runtime.Version(),
					"os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			a.printf("deckhand %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	return a.withJSON(cmd)
}
