"""Finds small objects in a large picture, in overlapping tiles: python3 tiles.py PICTURE [DETECTOR [SIDE]]"""

import sys

import sightline as sl

picture = sys.argv[1]
what = sys.argv[2] if len(sys.argv) > 2 else "people"  # networks gain most: "mine.onnx"
side = int(sys.argv[3]) if len(sys.argv) > 3 else 640

whole = sl.Detector(what)(picture)
tiled = sl.Detector(what, tiles=side)(picture)
for box in tiled.xyxy:
    print(", ".join(f"{edge:.1f}" for edge in box))
print(f"{len(whole)} boxes in the picture, {len(tiled)} with tiles")
