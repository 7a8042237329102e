"""Tells who is in pictures: python3 recognised.py GALLERY PICTURE...

`sightline faces add --gallery GALLERY --name Ada ada.jpg` adds somebody to the gallery."""

import sys

import sightline as sl

detector = sl.Detector("recognise", gallery=sys.argv[1])
for path in sys.argv[2:]:
    result = detector(path)
    print(f"{path}: {len(result)} faces")
    for face in result:
        print(f"  {face.identity} at " + ", ".join(f"{edge:.1f}" for edge in face.xyxy))
