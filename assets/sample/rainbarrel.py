"""Prints how full the rain barrel was, day by day."""

import sys

from barrel.readings import read
from barrel.report import table


def main(argv):
    if len(argv) != 2:
        print("usage: rainbarrel.py READINGS.csv", file=sys.stderr)
        return 2
    print(table(read(argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
