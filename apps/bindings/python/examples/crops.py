"""Saves each person in a picture as a picture of its own: python3 crops.py PICTURE FOLDER"""

import pathlib
import sys

from PIL import Image

import sightline as sl

picture = Image.open(sys.argv[1]).convert("RGB")
result = sl.Detector("people")(picture)
for number, crop in enumerate(result.crops(picture), start=1):
    Image.fromarray(crop).save(pathlib.Path(sys.argv[2]) / f"{number:03}.png")
print(f"{len(result)} pictures")
