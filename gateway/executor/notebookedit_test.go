package executor

import "testing"

func TestNB(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/a.ipynb", sampleNotebook)
	f.write("work/e.ipynb", "{\n  \"cells\": [],\n  \"nbformat\": 4,\n  \"nbformat_minor\": 5\n}")
	for _, a := range []args{
		{"cell_id": "cell-1", "new_source": "y = 2\ny"},
		{"cell_id": "intro", "new_source": "y = 2\ny", "cell_type": "code"},
		{"cell_id": "cell-1", "new_source": "y = 2\ny\nx", "cell_type": "markdown"},
		{"edit_mode": "insert", "position": "after", "cell_id": "twin", "new_source": "y = 2\ny\nx", "cell_type": "markdown"},
		{"edit_mode": "insert", "position": "after", "cell_id": "cell-2", "new_source": "y = 2\ny\nx", "cell_type": "markdown"},
		{"edit_mode": "insert", "position": "start", "new_source": "y = 2\ny\nx", "cell_type": "code"},
		{"edit_mode": "insert", "position": "end", "new_source": "y = 2\ny\nx", "cell_type": "code"},
		{"edit_mode": "delete", "cell_id": "intro"},
	} {
		a["notebook_path"] = "a.ipynb"
		r := f.run("NotebookEdit", a)
		t.Logf("%s: %s\n%s", r.Code, r.Text, f.disk("work/a.ipynb"))
	}
	r := f.run("NotebookEdit", args{"notebook_path": "e.ipynb", "edit_mode": "insert", "position": "end", "new_source": "y = 2\ny\nx", "cell_type": "code"})
	t.Logf("%s: %s\n%s", r.Code, r.Text, f.disk("work/e.ipynb"))
	r = f.run("NotebookEdit", args{"notebook_path": "e.ipynb", "edit_mode": "insert", "position": "end", "new_source": "z", "cell_type": "raw"})
	t.Logf("%s: %s\n%s", r.Code, r.Text, f.disk("work/e.ipynb"))
}
