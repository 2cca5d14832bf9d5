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
	// lumberjack appends to a file that is there and keeps its mode; one that
	// it makes is 0600.
	made, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		err = errors.Join(made.Chmod(0o600), made.Close())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: logFileMiB, MaxBackups: logOldFiles}
	options := &slog.HandlerOptions{Level: s.LogLevel}
	var handler slog.Handler = slog.NewJSONHandler(file, options)
	if isTerminal(stdio.Err) {
		handler = slog.NewMultiHandler(handler, slog.NewTextHandler(stdio.Err, options))
	}
	return slog.New(handler), file.Close, nil
}
