package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Bounds of the log: files of this many MiB, and this many old ones.
const (
	logFileMiB  = 10
	logOldFiles = 5
)

// logPath is where a gateway writes its log.
func logPath(stateDir string) string { return filepath.Join(stateDir, "logs", "deckhand.log") }

// openLog opens the log: JSON in the state directory, 0600 and rotated, and on
// stderr as well if that is a terminal.
func openLog(s Settings, stdio Stdio) (*slog.Logger, func() error, error) {
	path := logPath(s.StateDir)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: logFileMiB, MaxBackups: logOldFiles}
	// lumberjack gives a new file 0600 and keeps the mode of an old one.
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	options := &slog.HandlerOptions{Level: s.LogLevel}
	var handler slog.Handler = slog.NewJSONHandler(file, options)
	if isTerminal(stdio.Err) {
		handler = slog.NewMultiHandler(handler, slog.NewTextHandler(stdio.Err, options))
	}
	return slog.New(handler), file.Close, nil
}
