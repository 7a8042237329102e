"""Tells who stays longer than 2 s in the left half of a video or a stream: python3 zones.py VIDEO"""

import sys

import sightline as sl

half = {"polygon": [(0, 0), (0.5, 0), (0.5, 1), (0, 1)], "dwell": 2}
for result in sl.Detector("people").stream(sys.argv[1], zones={"left half": half}, images=False):
    for event in result.crossings:
        print(f"{event.time:.2f} s: {event.label} {event.track}: {event.kind} ({event.name})")
