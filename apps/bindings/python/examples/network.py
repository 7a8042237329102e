"""Finds objects with a network of your own: python3 network.py MODEL.onnx PICTURE... (no conversion, no PyTorch)"""

import sys

import sightline as sl

detector = sl.Detector(sys.argv[1], device="auto")
print("finds " + ", ".join(detector.names.values()))
for path in sys.argv[2:]:
    for found in detector(path):
        print(f"{path}: {found.label} {found.score:.2f} at " + ", ".join(f"{edge:.1f}" for edge in found.xyxy))
