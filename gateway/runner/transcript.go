package runner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// maxTranscriptLine bounds a line that is looked into. The lines that matter
// for the question come first and are at most a prompt long.
const maxTranscriptLine = 4 << 20

// TranscriptExists reports whether Claude Code can resume a session: whether a
// transcript in the home holds a message. It decides between --resume and
// --session-id. A Claude Code that was killed early leaves a transcript without
// one, for which both are refused ("No conversation found", "already in use");
// Prepare removes such a file.
func (r *Runner) TranscriptExists(home, claudeSession string) bool {
	for _, path := range transcripts(home, claudeSession) {
		// What cannot be judged is not given up: it would be removed.
		if ok, err := holdsMessage(path); err != nil || ok {
			return true
		}
	}
	return false
}

// transcripts lists the files of a session. There is one; it is in a folder
// named after the working directory of the run that made it, and stays there.
func transcripts(home, claudeSession string) []string {
	if !uuidForm.MatchString(claudeSession) {
		return nil
	}
	projects := filepath.Join(home, configName, "projects")
	folders, err := os.ReadDir(projects)
	if err != nil {
		return nil // none yet
	}
	var found []string
	for _, folder := range folders {
		path := filepath.Join(projects, folder.Name(), claudeSession+".jsonl")
		if info, err := os.Lstat(path); err == nil && folder.IsDir() && info.Mode().IsRegular() {
			found = append(found, path)
		}
	}
	return found
}

// removeTranscripts removes what a session left that cannot be resumed.
func removeTranscripts(home, claudeSession string) error {
	for _, path := range transcripts(home, claudeSession) {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove transcript that cannot be resumed: %w", err)
		}
	}
	return nil
}

// holdsMessage reports whether a transcript has a whole line that is a message.
func holdsMessage(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxTranscriptLine)
	for lines.Scan() {
		var line struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && (line.Type == "user" || line.Type == "assistant") {
			return true, nil
		}
	}
	return false, lines.Err()
}
