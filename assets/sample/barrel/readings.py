"""Reads the sensor's CSV file."""

import csv
from collections import namedtuple

Reading = namedtuple("Reading", "time distance_mm")

# Shorter than this is an echo from a drop on the sensor, not water.
SHORTEST_MM = 40


def read(path):
    """All readings of a file, without echoes, in the order of the file."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [Reading(row["time"], int(row["distance_mm"])) for row in csv.DictReader(file)]
    return [reading for reading in rows if reading.distance_mm >= SHORTEST_MM]
