"""Turns what the sensor sees into litres.

The sensor hangs under the lid and looks down. It reports the distance to the
water; all lengths in this file are millimetres.

        lid  ──┬── sensor
               │   SENSOR_GAP_MM
        rim  ──┼──
               │   what is empty
      water ~~~~~~
               │   what is full
      floor ───┴──
"""

from math import pi

DEPTH_MM = 880
DIAMETER_MM = 540

# TODO: take the ruler's number for this one, see docs/measurements.md.
SENSOR_GAP_MM = 12


def litres(distance_mm):
    """Litres in the barrel when the water is distance_mm below the sensor."""
    empty = distance_mm - SENSOR_GAP_MM
    level = min(max(DEPTH_MM - empty, 0), DEPTH_MM)
    return level * pi * (DIAMETER_MM / 2) ** 2 / 1e6


def capacity():
    """Litres in a barrel that is full to the rim."""
    return DEPTH_MM * pi * (DIAMETER_MM / 2) ** 2 / 1e6
