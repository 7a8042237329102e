"""Searches several cameras or videos at once, with one detector: python3 cameras.py URL..."""

import collections
import sys

import sightline as sl

detector = sl.Detector("people")
found = collections.Counter()
streams = {url: detector.stream(url, track=True, images=False) for url in dict.fromkeys(sys.argv[1:])}
for url, result in sl.gather(streams):
    found[url] += 1
    if len(result):
        print(f"{url}: frame {result.frame}: {len(result)} people")
for url, frames in found.items():
    print(f"{url}: {frames} frames searched")
