"""Rates of Python beside those of C and of the program, in turns. Only with $SIGHTLINE_THOROUGH: they need a quiet machine."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import sightline as sl

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("SIGHTLINE_PROGRAM", "sightline")
TURNS = 5


def run(*arguments):
    return subprocess.run([str(one) for one in arguments], capture_output=True, text=True, check=True, timeout=300).stdout


def timed(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start


@unittest.skipUnless(os.environ.get("SIGHTLINE_THOROUGH"), "needs SIGHTLINE_THOROUGH=1 and a quiet machine")
class Rates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect(self, share, what, python, other):
        """The best turns count: other work disturbs them least. The goal is printed, the limit allows for noise."""
        rate = min(other) / min(python)
        print(f"{what}: {100 * rate:.0f}% (goal {100 * share:.0f}%)", file=sys.stderr)
        self.assertGreater(rate, share - 0.15)

    @unittest.skipUnless(shutil.which("cc") and "SIGHTLINE_LIBRARY" in os.environ, "needs cc and $SIGHTLINE_LIBRARY")
    def test_threads(self):
        bindings = ROOT / "tests/bindings/c"
        library = os.environ["SIGHTLINE_LIBRARY"]
        rate = self.folder / "rate"
        run("cc", "-O1", "-I", ROOT / "apps/bindings/c", bindings / "rate.c", library, f"-Wl,-rpath,{os.path.dirname(library)}", "-lpthread", "-o", rate)
        picture = np.random.default_rng(1).integers(0, 256, (1080, 1920), np.uint8)
        (self.folder / "pixels").write_bytes(picture.tobytes())
        for threads, calls in ((2, 40), (16, 5)):
            with sl.Detector("people", device="none", threads=1, min_size=200) as detector:
                detector(picture)

                def search():
                    for _ in range(calls):
                        detector(picture)

                def together():
                    all_threads = [threading.Thread(target=search) for _ in range(threads)]
                    for one in all_threads:
                        one.start()
                    for one in all_threads:
                        one.join()

                python, c = [], []
                for _ in range(TURNS):
                    python.append(timed(together))
                    options = "device = 'none'\nthreads = 1\nmin_size = 200"
                    c.append(float(run(rate, options, threads, calls, 1920, 1080, self.folder / "pixels")))
            self.expect(0.9, f"{threads} threads, of C's rate", python, c)

    def test_stream(self):
        clip = self.folder / "clip.mkv"
        street = ROOT / "tools/pictures/street.jpg"
        graph = f"movie={street},loop=-1:1,scale=1920:1080,fps=25,trim=end_frame=500,setpts=N/25/TB,format=yuv420p"
        run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", graph, "-c:v", "mpeg4", "-q:v", "3", clip)
        code = (
            "import sightline as sl, sys\n"
            "d = sl.Detector('people', device='none', min_size=200)\n"
            "print(sum(len(r) for r in d.stream(sys.argv[1], duration=float(sys.argv[2]))))\n"
        )
        options = ("--device", "none", "--min-size", "200", "-d", os.devnull)

        def in_python(seconds):
            run(sys.executable, "-c", code, clip, seconds)

        def by_program(seconds):
            run(PROGRAM, "-q", "detect", clip, "--duration", seconds, *options)

        times = {(way, seconds): [] for way in (in_python, by_program) for seconds in (4, 20)}
        for _ in range(TURNS):
            for (way, seconds), taken in times.items():
                taken.append(timed(lambda: way(seconds)))
        # 400 frames, without the start of the process, the detector and the stream.
        python, program = ([min(times[way, 20]) - min(times[way, 4])] for way in (in_python, by_program))
        self.expect(0.95, "a stream, of the program's rate", python, program)


if __name__ == "__main__":
    unittest.main()
