// Package tests holds what is asked of the product as a whole: its behaviour
// over the real binary with the real Claude Code, and the rules of its source
// tree.
package tests
