package main

import (
	"encoding/json"
	"fmt"
)

// printJSON prints one value for a program: indented, and without the escapes
// that are meant for web pages.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdio.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// printJSONLine prints one value on one line, for output that goes on.
func (a *app) printJSONLine(v any) error {
	e := json.NewEncoder(a.stdio.Out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
