"""``python -m sightline ...`` runs the program ``sightline``: $SIGHTLINE_PROGRAM, or the one in the search path."""

import os
import shutil
import sys


def main() -> None:
    program = os.environ.get("SIGHTLINE_PROGRAM") or shutil.which("sightline")
    if not program:
        sys.exit("error: there is no program sightline; install the package sightline")
    os.execv(program, ["sightline", *sys.argv[1:]])


if __name__ == "__main__":
    main()
