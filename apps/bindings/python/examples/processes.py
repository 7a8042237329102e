"""Searches pictures in several new processes (no forks): python3 processes.py PICTURE..."""

import multiprocessing
import sys

import sightline as sl

detector = None


def begin(arguments):
    global detector
    detector = sl.Detector(*arguments)


def search(path):
    return path, detector(path)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")  # a forked process has no threads
    with context.Pool(2, begin, (("people",),)) as pool:
        for path, result in pool.imap(search, sys.argv[1:]):
            print(f"{path}: {len(result)} people, digest {result.digest}")
