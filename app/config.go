package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// defaultConfig is a settings file in which every setting is a comment with
// its default and what it means.
//
//go:embed config.default.toml
var defaultConfig string

// inputs are the places that settings come from. Flags holds what was set on
// the command line, by key.
type inputs struct {
	env    map[string]string
	config string // of --config
	// withoutFile reads no settings file.
	withoutFile bool
	flags       map[string]string
}

// environment makes a map of NAME=value; of duplicates the last counts, as in
// package exec.
func environment(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok {
			m[name] = value
		}
	}
	return m
}

// load reads the settings from all places and checks them.
func (in inputs) load() (Settings, error) {
	var p places
	if home := in.env["HOME"]; filepath.IsAbs(home) {
		p = defaultPlaces(home, func(name string) string { return in.env[name] })
	}
	s := defaultSettings(p)
	if !in.withoutFile {
		if err := in.loadFile(&s, p.Config); err != nil {
			return Settings{}, err
		}
	}
	for _, def := range settings {
		for _, name := range []string{def.older, def.env} {
			value := in.env[name]
			if name == "" || value == "" {
				continue
			}
			values := []string{value}
			if def.kind == list {
				values = strings.Split(value, def.separator())
			}
			if err := def.apply(&s, values, name); err != nil {
				return Settings{}, usagef("%s: %w", name, err)
			}
		}
		if value, ok := in.flags[def.key]; ok {
			if err := def.apply(&s, []string{value}, "--"+def.flag); err != nil {
				return Settings{}, usagef("--%s: %w", def.flag, err)
			}
		}
	}
	return s, s.validate()
}

// loadFile reads the settings file. One that was named must exist.
func (in inputs) loadFile(s *Settings, path string) error {
	named := true
	switch {
	case in.config != "":
		path = in.config
	case in.env["DECKHAND_CONFIG"] != "":
		path = in.env["DECKHAND_CONFIG"]
	default:
		named = false
	}
	if path == "" {
		return nil
	}
	data, err := readConfig(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return usagef("read settings: %w", err)
	}
	if err := parseConfig(s, path, string(data)); err != nil {
		return usageError{err}
	}
	s.File = path
	return nil
}

// readConfig refuses a file that others can change: it names the programs that
// the gateway starts.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others can change %s (mode %04o); run chmod go-w on it", path, info.Mode().Perm())
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() && st.Uid != 0 {
		return nil, fmt.Errorf("%s belongs to another user", path)
	}
	return os.ReadFile(path)
}

// parseConfig applies a settings file. Every error names file, line and key.
func parseConfig(s *Settings, path, data string) error {
	var tree map[string]any
	if _, err := toml.Decode(data, &tree); err != nil {
		if broken, ok := errors.AsType[toml.ParseError](err); ok {
			return fmt.Errorf("%s:%d: %s", path, broken.Position.Line, broken.Message)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	found := map[string]any{}
	flatten(found, "", tree)
	keys := make([]string, 0, len(found))
	for key := range found {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		at := fmt.Sprintf("%s:%d: %s", path, lineOf(data, key), key)
		i := slices.IndexFunc(settings, func(d setting) bool { return d.key == key })
		if i < 0 {
			return fmt.Errorf("%s: there is no such setting; deckhand config --default lists all", at)
		}
		values, ok := written(settings[i].kind, found[key])
		if !ok {
			return fmt.Errorf("%s: want %s", at, settings[i].kind)
		}
		if err := settings[i].apply(s, values, path); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

// flatten joins the keys of nested tables by dots. An empty table is nothing.
func flatten(into map[string]any, prefix string, tree map[string]any) {
	for name, value := range tree {
		if sub, ok := value.(map[string]any); ok {
			flatten(into, prefix+name+".", sub)
			continue
		}
		into[prefix+name] = value
	}
}

// written returns a value of the file as texts if it is of the right kind.
func written(k kind, value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, k == text
	case int64:
		return []string{strconv.FormatInt(v, 10)}, k == number
	case []any:
		values := make([]string, len(v))
		for i := range v {
			s, ok := v[i].(string)
			if !ok {
				return nil, false
			}
			values[i] = s
		}
		return values, k == list
	}
	return nil, false
}

// lineOf finds the line of a key, for messages: the parser does not tell where
// a key stood that it understood. A key of an inline table is found by the
// table. 1 if nothing is found.
func lineOf(data, key string) int {
	table, best, line := "", 0, 1
	for i, l := range strings.Split(data, "\n") {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") && !strings.Contains(l, "=") {
			name, _, _ := strings.Cut(strings.TrimLeft(l, "["), "]")
			table = bare(name) + "."
			continue
		}
		name, _, ok := strings.Cut(l, "=")
		if !ok || strings.HasPrefix(l, "#") {
			continue
		}
		full := table + bare(name)
		if full == key {
			return i + 1
		}
		if strings.HasPrefix(key, full+".") && len(full) > best {
			best, line = len(full), i+1
		}
	}
	return line
}

// bare takes blanks and quotes out of a key.
func bare(key string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(key)
}
