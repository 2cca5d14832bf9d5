package session

import "testing"

func TestOnlyWhatAPersonWouldSeeIsVisible(t *testing.T) {
	for _, text := range []string{"a", "é", "漢", "1", ".", "😀", "\u200b.", "́a"} {
		if !visible(text) {
			t.Errorf("%q is not visible", text)
		}
	}
	for _, text := range []string{"", " \n\t", "\u200b", "\u00ad", "\u3164", "\u115f", "\u2800", "\u034f", "\ufe0f", "\u0301", "\ufffc", "\u202e"} {
		if visible(text) {
			t.Errorf("%q is visible", text)
		}
	}
}
