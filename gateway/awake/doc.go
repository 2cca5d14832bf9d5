// Package awake keeps the machine from going to sleep by itself while
// something goes on.
//
// Contract: Keep holds the machine awake exactly while it is told to, and lets
// go when it returns, also when the process is killed. What cannot be had is
// logged once and tried again at the next change; nothing else depends on it.
//
// Not covered: a lid that is closed, a person who says "sleep", an empty
// battery.
package awake
