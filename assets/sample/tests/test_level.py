import unittest

from barrel.level import DEPTH_MM, SENSOR_GAP_MM, capacity, litres


class Level(unittest.TestCase):
    def test_an_empty_barrel_holds_nothing(self):
        self.assertEqual(litres(DEPTH_MM + SENSOR_GAP_MM), 0)

    def test_ten_buckets_are_a_hundred_litres(self):
        self.assertAlmostEqual(litres(300) - litres(737), 100, delta=0.5)

    def test_it_never_holds_more_than_fits(self):
        self.assertEqual(litres(0), capacity())

    @unittest.expectedFailure
    def test_the_barrel_was_full_when_it_overflowed(self):
        # 14 June, 17:00, when the water ran over the rim.
        self.assertAlmostEqual(litres(118), capacity(), delta=1)
