import os
import tempfile
import unittest

from barrel.readings import read


class Readings(unittest.TestCase):
    def test_echoes_are_dropped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "readings.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("time,distance_mm\n2026-06-01T12:00,640\n2026-06-01T13:00,23\n")
            self.assertEqual([r.distance_mm for r in read(path)], [640])
