"""Searches a large picture in overlapping parts, which the processors share: python3 tiles.py PICTURE"""

import sys

import numpy as np
from PIL import Image

import sightline as sl

SIDE, OVERLAP = 640, 200

picture = np.asarray(Image.open(sys.argv[1]).convert("L"))
height, width = picture.shape
places = [
    (x, y)
    for y in range(0, max(height - OVERLAP, 1), SIDE - OVERLAP)
    for x in range(0, max(width - OVERLAP, 1), SIDE - OVERLAP)
]
parts = [picture[y : y + SIDE, x : x + SIDE] for x, y in places]  # views: nothing is copied
found = 0
for (x, y), result in zip(places, sl.Detector("people")(parts)):
    whole = result[~result.cut]  # those at the edge of a part are whole in its neighbour
    found += len(whole)
    for box in whole.xyxy + [x, y, x, y]:
        print(", ".join(f"{side:.1f}" for side in box))
print(f"{found} boxes in {len(parts)} parts")
