"""Prints the people in pictures: python3 people.py PICTURE..."""

import sys

import sightline as sl

detector = sl.Detector("people")
for path in sys.argv[1:]:
    result = detector(path)
    print(f"{path}: {len(result)} people, digest {result.digest}")
    for person in result:
        print(f"  {person.label} {person.confidence:.2f} at " + ", ".join(f"{side:.1f}" for side in person.xyxy))
