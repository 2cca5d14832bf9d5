"""The table that the command prints."""

from barrel.level import capacity, litres


def table(readings):
    """One line a day: its last reading. Then the fullest moment of all."""
    last = {}
    for reading in readings:
        last[reading.time[:10]] = reading
    lines = [f"{day}  {litres(r.distance_mm):6.1f} l" for day, r in sorted(last.items())]
    if readings:
        top = max(readings, key=lambda r: litres(r.distance_mm))
        full = litres(top.distance_mm)
        lines.append(f"fullest: {top.time}, {full:.1f} of {capacity():.1f} l, room for {capacity() - full:.1f} l")
    return "\n".join(lines)
