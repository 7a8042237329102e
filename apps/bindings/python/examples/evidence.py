"""Checks that a video gives the results that were noted before: python3 evidence.py VIDEO [NOTES]

Without notes, writes them: a line for each frame with its number and the digest of its boxes. Any machine and any
device gives the same digests."""

import sys

import sightline as sl

detector = sl.Detector("people")
results = detector.stream(sys.argv[1], images=False)
if len(sys.argv) < 3:
    print(detector.fingerprint)
    for result in results:
        print(result.frame, result.digest)
else:
    with open(sys.argv[2]) as notes:
        noted = notes.read().splitlines()
    if noted[0] != detector.fingerprint:
        sys.exit("the notes are of another model, or of other settings")
    for line, result in zip(noted[1:], results):
        if line != f"{result.frame} {result.digest}":
            sys.exit(f"frame {result.frame} differs")
    print(f"{len(noted) - 1} frames are equal")
