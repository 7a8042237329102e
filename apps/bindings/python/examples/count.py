"""Counts people who cross the middle of a video or a stream: python3 count.py VIDEO"""

import sys

import sightline as sl

detector = sl.Detector("people")
with detector.stream(sys.argv[1], lines={"middle": ((0.5, 0), (0.5, 1))}, images=False) as stream:
    for result in stream:
        for crossing in result.crossings:
            side = "left" if crossing.kind == "in" else "right"
            print(f"{crossing.time:.2f} s: {crossing.label} {crossing.track} goes {side}")
    print(stream.counter.totals)
