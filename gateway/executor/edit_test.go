package executor

import "testing"

func TestEditTries(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/a.txt", "one\r\n two\n three\r\n four\n")
	for _, a := range []args{
		{"old_string": "three", "new_string": "3\n3b"},
		{"old_string": "two\n 3", "new_string": "zwei\n 3"},
		{"old_string": "one\n\ttwo", "new_string": "x"},
		{"old_string": "ONE\n", "new_string": "x"},
		{"old_string": " 3b\n four\n five", "new_string": "x"},
		{"old_string": "zwei\n 3\n3b\n four and more", "new_string": "x"},
		{"old_string": "o", "new_string": "x"},
		{"old_string": "3b\\n four", "new_string": "x"},
	} {
		a["file_path"] = "a.txt"
		r := f.run("Edit", a)
		t.Logf("%q\n%s: %s\n%q", a["old_string"], r.Code, r.Text, f.disk("work/a.txt"))
	}
}
