package tray

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// IconStyle is how an icon is coloured.
type IconStyle int

const (
	// Coloured shows on a light and on a dark panel.
	Coloured IconStyle = iota
	// Template is black and transparent; macOS colours it.
	Template
)

// Sides of icons in pixels.
const (
	// iconSize is twice the height that menu bars give an icon.
	iconSize = 36
	// noticeSize is what notifications show beside their text.
	noticeSize = 64
)

// Icon draws the icon: a diamond, hollow when calm, full when something needs a
// person, with bars when paused and crossed out when there is no gateway. On
// Linux, where no text stands beside icons, the count stands in it.
func Icon(b Bar, style IconStyle) []byte {
	var out bytes.Buffer
	// Encoding to memory cannot fail for an image of this size.
	if err := png.Encode(&out, drawIcon(b, style, iconSize)); err != nil {
		panic(fmt.Sprintf("encode icon: %v", err))
	}
	return out.Bytes()
}

// drawIcon draws the icon with the given side.
func drawIcon(b Bar, style IconStyle, side int) *image.NRGBA {
	const fine = 4 // samples per pixel and axis
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	ink := inkOf(b.Mood, style)
	for y := range side {
		for x := range side {
			body, hole := 0, 0
			for sy := range fine {
				for sx := range fine {
					u := (float64(x) + (float64(sx)+0.5)/fine) / float64(side)
					v := (float64(y) + (float64(sy)+0.5)/fine) / float64(side)
					switch drawn(b, style, u, v) {
					case 1:
						body++
					case 2:
						hole++
					}
				}
			}
			c := ink
			if hole > body {
				c = color.NRGBA{0xff, 0xff, 0xff, 0xff}
			}
			c.A = uint8(int(c.A) * (body + hole) / (fine * fine))
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func inkOf(m Mood, style IconStyle) color.NRGBA {
	if style == Template {
		if m == Paused || m == Down {
			return color.NRGBA{0, 0, 0, 0x80}
		}
		return color.NRGBA{0, 0, 0, 0xff}
	}
	switch m {
	case Attention:
		return color.NRGBA{0xe0, 0x7b, 0x1a, 0xff}
	case Paused, Down:
		return color.NRGBA{0x8a, 0x93, 0x9b, 0xff}
	}
	return color.NRGBA{0x2b, 0x8f, 0xa8, 0xff}
}

// drawn says what is at (u, v), from 0 to 1: nothing, ink (1), or white on it
// (2).
func drawn(b Bar, style IconStyle, u, v float64) int {
	d := math.Abs(u-0.5) + math.Abs(v-0.5) // 0 at the middle, 0.5 at the corners
	if d > 0.48 {
		return 0
	}
	switch b.Mood {
	case Attention:
		if style == Coloured && digitAt(b.Count, u, v) {
			return 2
		}
		return 1
	case Paused:
		if d < 0.30 && (math.Abs(u-0.41) < 0.05 || math.Abs(u-0.59) < 0.05) && math.Abs(v-0.5) < 0.16 {
			return 1
		}
	case Down:
		if math.Abs(u-v) < 0.06 && d < 0.40 {
			return 1
		}
	}
	if d > 0.33 {
		return 1
	}
	return 0
}

// digits are 3 by 5 dots, a row of three bits each.
var digits = map[rune][5]uint8{
	'1': {2, 6, 2, 2, 7}, '2': {7, 1, 7, 4, 7}, '3': {7, 1, 7, 1, 7}, '4': {5, 5, 7, 1, 1}, '5': {7, 4, 7, 1, 7},
	'6': {7, 4, 7, 5, 7}, '7': {7, 1, 2, 2, 2}, '8': {7, 5, 7, 5, 7}, '9': {7, 5, 7, 1, 7}, '+': {0, 2, 7, 2, 0},
}

// digitAt reports whether the count's sign covers (u, v).
func digitAt(count int, u, v float64) bool {
	sign := '+'
	if count >= 1 && count <= 9 {
		sign = rune('0' + count)
	}
	const dot = 0.085
	x, y := int(math.Floor((u-0.5)/dot+1.5)), int(math.Floor((v-0.5)/dot+2.5))
	if x < 0 || x > 2 || y < 0 || y > 4 {
		return false
	}
	return digits[sign][y]&(4>>x) != 0
}

// badge is the text beside the icon, "" when nothing needs a person.
func badge(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
