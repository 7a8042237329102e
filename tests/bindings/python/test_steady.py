"""What many calls leave behind: bytes, threads and file descriptors. $SIGHTLINE_THOROUGH makes more calls."""

import ctypes
import gc
import os
import pathlib
import sys
import unittest

import numpy as np

import sightline as sl

ROOT = pathlib.Path(__file__).resolve().parents[3]
THOROUGH = bool(os.environ.get("SIGHTLINE_THOROUGH"))
EVENT, MOST_EVENTS = 50, 1200  # bytes and number of the events that a detector keeps


class HeapUse(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def heap_bytes():
    """Bytes that the process has allocated with malloc and not freed."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = HeapUse
    use = mallinfo()
    return use.uordblks + use.hblkhd


def grown(work, calls):
    """What calls leave: bytes, Python's blocks, threads, file descriptors."""

    def count():
        gc.collect()
        return np.array(
            [heap_bytes(), sys.getallocatedblocks(), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))]
        )

    before = count()
    for _ in range(calls):
        work()
    return list(count() - before)


@unittest.skipUnless(hasattr(ctypes.CDLL(None), "mallinfo2"), "needs glibc")
class Steady(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.detector = sl.Detector("people", device="none", threads=1)
        cls.picture = np.random.default_rng(1).integers(0, 256, (150, 100), np.uint8)
        with cls.detector.stream(ROOT / "tools/pictures/street.jpg") as pictures:
            cls.found = pictures.read()

    def expect_steady(self, work, calls, byte_limit):
        grew = grown(work, calls)
        self.assertLess(grew[0], byte_limit)
        self.assertLess(grew[1], 100)
        self.assertLess(max(grew[2:]), 2)

    def test_calls(self):
        tiny = np.zeros((1, 1), np.uint8)

        def search():
            result = self.detector(self.picture)
            return result.xyxy, result.score, result.labels, result.digest

        for _ in range(20):
            search()
        for work, calls in ((search, 2000 if THOROUGH else 50), (lambda: self.detector(tiny), 200_000 if THOROUGH else 200)):
            self.expect_steady(work, calls, 2000 + EVENT * min(calls, MOST_EVENTS))

    def test_results(self):
        tracker = sl.Tracker(hits=1)
        counter = sl.Counter(zones={"all": [(0, 0), (1, 0), (1, 1)]})
        times = iter(range(1, 1_000_000))

        def work():
            tracked = tracker.update(self.found, next(times))
            counter.update(tracked)
            some = tracked[:2]
            return some.json(), some.to_dict(), some[0], tracked.labels, counter.totals

        for _ in range(50):
            work()
        self.expect_steady(work, 20_000 if THOROUGH else 500, 2000)

    def test_errors(self):
        def work():
            for call in (
                lambda: sl.Detector("peple"),
                lambda: sl.Stream("/nothing.mkv"),
                lambda: sl.Counter(),
                lambda: self.detector(np.zeros((4, 4), np.float32)),
            ):
                self.assertRaises(sl.Error, call)

        for _ in range(5):
            work()
        self.expect_steady(work, 1000 if THOROUGH else 30, 20_000)

    def test_opening(self):
        def work():
            with sl.Detector("people", device="none") as detector:
                detector(self.picture)
                with detector.stream(ROOT / "tools/pictures/street.jpg") as stream:
                    stream.read()

        for _ in range(5):
            work()
        calls = 1000 if THOROUGH else 10
        self.expect_steady(work, calls, 100_000 + 50 * calls)


if __name__ == "__main__":
    unittest.main()
