package shim

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestOutputIsReadForTheExitRecordOnly(t *testing.T) {
	const initLine = `{"type":"system","subtype":"init","tools":["x"],"claude_code_version":"2.1.247"}` + "\n"
	const result = `{"is_error":true,"subtype":"error_during_execution","result":"SECRET","type":"result"}`
	for name, c := range map[string]struct {
		output string
		want   ending
	}{
		"nothing":         {"", ending{}},
		"no result":       {initLine, ending{version: "2.1.247"}},
		"whole":           {initLine + `{"type":"assistant","message":"SECRET"}` + "\n" + result + "\n", ending{"2.1.247", true, true, "error_during_execution"}},
		"no last newline": {initLine + result, ending{"2.1.247", true, true, "error_during_execution"}},
		"half a result":   {initLine + result[:30], ending{version: "2.1.247"}},
		"noise":           {"SECRET\n\n" + initLine, ending{version: "2.1.247"}},
		"a huge line": {initLine + `{"type":"user","x":"` + strings.Repeat("SECRET", maxLine/6) + "\"}\n" + result + "\n",
			ending{"2.1.247", true, true, "error_during_execution"}},
		"a huge result": {initLine + strings.Replace(result, "SECRET", strings.Repeat(`\u0000`, 768<<10), 1),
			ending{"2.1.247", true, true, "error_during_execution"}},
	} {
		var log strings.Builder
		got, err := readOutput(strings.NewReader(c.output), &log)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if strings.Contains(log.String(), "SECRET") {
			t.Errorf("%s: contents are in the log", name)
		}
		if name == "a huge line" && strings.Contains(log.String(), "user") {
			t.Error("a line over the limit was kept and looked into")
		}
	}
	broken := errors.New("broken pipe")
	got, err := readOutput(io.MultiReader(strings.NewReader(initLine), errReader{broken}), io.Discard)
	if !errors.Is(err, broken) || got.version != "2.1.247" {
		t.Errorf("%+v %v", got, err)
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

func TestLogFilesAreBoundedAndNeverStopTheirWriter(t *testing.T) {
	path := t.TempDir() + "/log"
	f, err := createBounded(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if n, err := f.Write(make([]byte, maxLog/4)); n != maxLog/4 || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Write([]byte("after the end")); n != 13 || err != nil {
		t.Error(n, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != maxLog || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
