"""From the distance under a lid to the litres in a barrel."""
