package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of one shown output of a cell.
const (
	maxOutputLines = 20
	maxOutputBytes = 2000
)

// notebookFile is what is shown of a Jupyter notebook (nbformat 4).
type notebookFile struct {
	Format     int              `json:"nbformat"`
	Minor      int              `json:"nbformat_minor"`
	Cells      []notebookCell   `json:"cells"`
	Worksheets jsontext.Value   `json:"worksheets"`
	Metadata   notebookMetadata `json:"metadata"`
}

type notebookMetadata struct {
	Kernel struct {
		Language string `json:"language"`
		Name     string `json:"name"`
	} `json:"kernelspec"`
}

type notebookCell struct {
	ID        *string          `json:"id"`
	Type      string           `json:"cell_type"`
	Source    lines            `json:"source"`
	Execution *int64           `json:"execution_count"`
	Outputs   []notebookOutput `json:"outputs"`
}

type notebookOutput struct {
	Type  string                    `json:"output_type"`
	Name  string                    `json:"name"`
	Text  lines                     `json:"text"`
	Data  map[string]jsontext.Value `json:"data"`
	Error string                    `json:"ename"`
	Value string                    `json:"evalue"`
}

// lines is a text that a notebook holds as one string or as a list of them.
type lines string

// UnmarshalJSON accepts both forms.
func (l *lines) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = lines(one)
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*l = lines(strings.Join(list, ""))
	return nil
}

// notebookView writes a notebook by cell. It returns nil and why if raw is no
// notebook of a format that it knows.
func notebookView(raw []byte) (view []byte, note string) {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	var n notebookFile
	if err := jsonv2.Unmarshal(raw, &n); err != nil {
		return nil, "not a valid notebook, shown as text"
	}
	if n.Format != 4 {
		return nil, fmt.Sprintf("notebook of format %d, which is not shown by cell but as text", n.Format)
	}
	handles := cellHandles(n.Cells)
	var b bytes.Buffer
	for i, c := range n.Cells {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "=== cell %d of %d: %s, handle %s", i+1, len(n.Cells), showName(c.Type), showName(handles[i]))
		if c.Execution != nil {
			fmt.Fprintf(&b, ", execution %d", *c.Execution)
		}
		b.WriteString(" ===\n")
		writeLines(&b, string(c.Source))
		for j, o := range c.Outputs {
			fmt.Fprintf(&b, "--- output %d of %d: ", j+1, len(c.Outputs))
			o.write(&b)
		}
	}
	language := n.Metadata.Kernel.Language
	if language == "" {
		language = n.Metadata.Kernel.Name
	}
	if language != "" {
		language = ", " + showName(clip(language, 40))
	}
	return b.Bytes(), fmt.Sprintf("cell view of a notebook with %s, format %d.%d%s; lines are those of this view, size and SHA-256 those of the file", count(int64(len(n.Cells)), "cell"), n.Format, n.Minor, language)
}

// noHandle begins what stands for the handle of a cell that cannot be named. No
// id of a cell has a space.
const noHandle = "none "

// cellHandles returns for each cell what names it: its id if that is its own
// alone, else cell-N with N counted from 0. An id is never taken for a position.
func cellHandles(cells []notebookCell) []string {
	ids := map[string]int{}
	for _, c := range cells {
		if c.ID != nil {
			ids[*c.ID]++
		}
	}
	handles := make([]string, len(cells))
	for i, c := range cells {
		position := fmt.Sprintf("cell-%d", i)
		switch {
		case c.ID != nil && *c.ID != "" && ids[*c.ID] == 1:
			handles[i] = *c.ID
		case ids[position] == 0:
			handles[i] = position
		default:
			handles[i] = noHandle + "(its position is another cell's id)"
		}
	}
	return handles
}

func writeLines(b *bytes.Buffer, s string) {
	s = strings.ReplaceAll(s, "\x00", `\x00`)
	b.WriteString(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
}

// write shows an output shortened.
func (o notebookOutput) write(b *bytes.Buffer) {
	switch o.Type {
	case "stream":
		fmt.Fprintf(b, "%s ---\n", showName(o.Name))
		writeShort(b, string(o.Text))
		return
	case "error":
		b.WriteString("error ---\n")
		writeShort(b, o.Error+": "+o.Value)
		return
	}
	fmt.Fprintf(b, "%s ---\n", showName(o.Type))
	if raw, ok := o.Data["text/plain"]; ok {
		var text lines
		if text.UnmarshalJSON(raw) == nil {
			writeShort(b, string(text))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Data)) {
		if kind != "text/plain" {
			fmt.Fprintf(b, "[%s, %s of JSON, not shown]\n", showName(clip(kind, 80)), count(int64(len(o.Data[kind])), "byte"))
		}
	}
}

func writeShort(b *bytes.Buffer, s string) {
	short := s
	for i, n := 0, 0; i < len(short); i++ {
		if short[i] == '\n' {
			if n++; n == maxOutputLines {
				short = short[:i+1]
			}
		}
	}
	short = short[:cutBefore(short, maxOutputBytes)]
	writeLines(b, short)
	if rest := len(s) - len(short); rest > 0 {
		fmt.Fprintf(b, "[output cut: %s more]\n", count(int64(rest), "byte"))
	}
}
