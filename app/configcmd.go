package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) configCommand() *cobra.Command {
	var commented bool
	cmd := &cobra.Command{
		Use:     "config",
		GroupID: groupLook,
		Short:   "Show the settings and where each comes from",
		Long: `Show the settings that a gateway started here and now would use, and where each
comes from. With --default, print a settings file in which every setting is
explained; save it where "settings file" points to and change what you like.`,
		Example: `  deckhand config
  mkdir -p ~/.config/deckhand
  deckhand config --default > ~/.config/deckhand/config.toml`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if commented {
				a.printf("%s", a.commentedConfig())
				return nil
			}
			s, err := a.load(cmd)
			if err != nil {
				return err
			}
			return a.printConfig(s)
		},
	}
	cmd.Flags().BoolVar(&commented, "default", false, "print a settings file with all defaults, explained")
	return a.withJSON(cmd)
}

// commentedConfig is the explained settings file for this user.
func (a *app) commentedConfig() string {
	p := defaultPlaces(a.env["HOME"], func(name string) string { return a.env[name] })
	return strings.NewReplacer("{{state_dir}}", p.State, "{{worktrees}}", p.Worktrees).Replace(defaultConfig)
}

// shownSetting is the JSON of one setting.
type shownSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func (a *app) printConfig(s Settings) error {
	key, value, from := column{title: "SETTING"}, column{title: "VALUE"}, column{title: "FROM"}
	shown := []shownSetting{}
	for _, def := range settings {
		one := shownSetting{Key: def.key, Value: def.get(s), From: "default"}
		if origin, ok := s.from[def.key]; ok {
			one.From = origin
		}
		shown = append(shown, one)
		key.cells = append(key.cells, one.Key)
		value.cells = append(value.cells, printable(one.Value))
		from.cells = append(from.cells, printable(one.From))
	}
	if a.json {
		return a.printJSON(shown)
	}
	file := s.File
	if file == "" {
		file = "none; it would be " + defaultPlaces(a.env["HOME"], func(name string) string { return a.env[name] }).Config
	}
	a.printf("settings file: %s\n\n", printable(file))
	a.table(key, value, from)
	return nil
}
