package tray

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

func decode(t *testing.T, b Bar, style IconStyle) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(Icon(b, style)))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, iconSize, iconSize) {
		t.Fatalf("icon is %v", img.Bounds())
	}
	return img
}

func TestEachStateHasAShapeOfItsOwn(t *testing.T) {
	bars := []Bar{{Mood: Calm}, {Mood: Paused}, {Mood: Down}}
	for n := 1; n <= 11; n++ {
		bars = append(bars, Bar{Mood: Attention, Count: n})
	}
	// By what is not transparent, so that colour alone tells nothing.
	shapes := map[string]Bar{}
	for _, b := range bars[:4] {
		img := decode(t, b, Template)
		shape := ""
		for y := range iconSize {
			for x := range iconSize {
				_, _, _, a := img.At(x, y).RGBA()
				shape += map[bool]string{true: "#", false: "."}[a > 0x3000]
			}
		}
		if other, ok := shapes[shape]; ok {
			t.Errorf("%+v looks like %+v", b, other)
		}
		shapes[shape] = b
	}
	seen := map[string]Bar{}
	for _, b := range bars[3:] {
		icon := string(Icon(b, Coloured))
		if other, ok := seen[icon]; ok && b.Count != 11 {
			t.Errorf("%+v looks like %+v", b, other)
		}
		seen[icon] = b
	}
}

func TestATemplateIconIsBlack(t *testing.T) {
	for _, m := range []Mood{Calm, Attention, Paused, Down} {
		img := decode(t, Bar{Mood: m, Count: 3}, Template)
		for y := range iconSize {
			for x := range iconSize {
				if r, g, b, _ := img.At(x, y).RGBA(); r|g|b != 0 {
					t.Fatalf("mood %d has a colour at %d,%d", m, x, y)
				}
			}
		}
	}
}
