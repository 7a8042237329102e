"""The Python package, on a library of the build: see CONTRIBUTING.md for how it is run.

$SIGHTLINE_LIBRARY and $SIGHTLINE_PROGRAM name the build's files.
"""

import asyncio
import gc
import glob
import hashlib
import json
import os
import pathlib
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import sightline as sl

ROOT = pathlib.Path(__file__).resolve().parents[3]
STREET = str(ROOT / "tools/pictures/street.jpg")
EXAMPLES = ROOT / "apps/bindings/python/examples"
PROGRAM = os.environ.get("SIGHTLINE_PROGRAM", "sightline")

try:
    from PIL import Image
except ImportError:
    Image = None


def run_python(*arguments, code=0, **options):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, **options)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


class Case(unittest.TestCase):
    """Tests share a detector, and a clip of a camera that moves over a picture."""

    @classmethod
    def setUpClass(cls):
        cls.detector = sl.Detector("people", device="none")
        cls.folder = tempfile.TemporaryDirectory()
        cls.clip = os.path.join(cls.folder.name, "clip.mkv")
        graph = (
            f"movie={STREET},loop=-1:1,crop=640:360:300+n*4:150,fps=25,trim=end_frame=30,"
            "setpts=N/25/TB,format=yuv420p"
        )
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", graph, "-c:v", "ffv1", cls.clip], check=True
        )
        with cls.detector.stream(STREET) as pictures:
            cls.street = pictures.read().image.copy()

    @classmethod
    def tearDownClass(cls):
        cls.detector.close()
        cls.folder.cleanup()


class Arrays(Case):
    def test_every_layout_gives_the_same_objects(self):
        expected = self.detector(self.street).digest
        copies = self.detector.explain()["copied"]
        height, width = self.street.shape[:2]
        wide = np.zeros((height, width + 7, 3), np.uint8)
        wide[:, 3:-4] = self.street
        rgba = np.dstack([self.street[..., ::-1], np.zeros((height, width), np.uint8)])
        flipped = self.street[::-1].copy()[::-1]
        self.assertLess(flipped.strides[0], 0)
        shared = {
            "part of a larger one": (wide[:, 3:-4], "bgr"),
            "reversed channels": (self.street[..., ::-1], "rgb"),
            "copied and reversed": (self.street[..., ::-1].copy(), "rgb"),
            "bottom up": (flipped, "bgr"),
            "four channels": (rgba, "rgb"),
            "memoryview": (memoryview(self.street), "bgr"),
        }
        for name, (array, color) in shared.items():
            with self.subTest(name):
                self.assertEqual(self.detector(array, color=color).digest, expected)
        self.assertEqual(self.detector.explain()["copied"], copies)
        for name, array in {
            "column by column": np.asfortranarray(self.street),
            "mirrored twice": self.street[:, ::-1].copy()[:, ::-1],
        }.items():
            with self.subTest(name):
                copies += 1
                self.assertEqual(self.detector(array).digest, expected)
                self.assertEqual(self.detector.explain()["copied"], copies)

    def test_luma_is_that_of_the_documentation(self):
        b, g, r = (self.street[..., i].astype(np.uint32) for i in range(3))
        luma = ((77 * r + 150 * g + 29 * b + 128) >> 8).astype(np.uint8)
        expected = self.detector(self.street).digest
        self.assertEqual(self.detector(luma).digest, expected)
        self.assertEqual(self.detector(luma[..., None]).digest, expected)
        self.assertEqual(self.detector(luma.astype(np.uint16) * 257).digest, expected)

    def test_random_layouts(self):
        random = np.random.default_rng(7)
        for _ in range(60):
            height, width = random.integers(1, 200, 2)
            channels = random.choice([1, 3, 4])
            base = random.integers(0, 256, (2 * height, 2 * width, channels), np.uint8)
            rows = slice(None, None, int(random.choice([-2, -1, 1, 2])))
            columns = slice(None, None, int(random.choice([-1, 1, 2])))
            view = base[rows, columns]
            if channels == 1:
                view = view[..., 0]
            self.assertEqual(self.detector(view).digest, self.detector(view.copy()).digest)

    @unittest.skipUnless(Image, "needs python3-pil")
    def test_pictures_of_pil_paths_and_bytes(self):
        with Image.open(STREET) as picture:
            self.assertEqual(self.detector(picture).digest, self.detector(np.asarray(picture), color="rgb").digest)
        by_path = self.detector(STREET)
        content = pathlib.Path(STREET).read_bytes()
        self.assertEqual(self.detector(content).digest, by_path.digest)
        self.assertEqual(self.detector(pathlib.Path(STREET)).digest, by_path.digest)
        mixed = self.detector([STREET, self.street, content])
        self.assertEqual([one.digest for one in mixed], [by_path.digest, self.detector(self.street).digest, by_path.digest])

    def test_wrong_images_raise_with_the_fix(self):
        byte = np.uint8
        for image, kind, words in [
            (np.zeros((40, 40)), TypeError, "astype('uint8')"),
            (np.zeros((40, 40), bool), TypeError, "astype('uint8')"),
            (np.zeros((40, 40, 3), np.uint16), TypeError, ">> 8"),
            (np.zeros((3, 40, 40), byte), ValueError, "transpose(1, 2, 0)"),
            (np.zeros((2, 40, 40, 3), byte), ValueError, "list(images)"),
            (np.zeros((40,), byte), ValueError, "(H, W, 3)"),
            (np.zeros((40, 40, 2), byte), ValueError, "(H, W, 3)"),
            (np.zeros((0, 40), byte), ValueError, "no pixels"),
            (3, TypeError, "array of (H, W)"),
            (None, TypeError, "cv2.imread"),
            (b"no picture", sl.InputError, "the picture is not a readable"),
            ("/nothing.jpg", sl.InputError, "/nothing.jpg"),
        ]:
            with self.subTest(words=words), self.assertRaises(kind) as caught:
                self.detector(image)
            self.assertIn(words, str(caught.exception))
            self.assertIsInstance(caught.exception, sl.Error)
        with self.assertRaises(ValueError):
            self.detector(self.street, color="hsv")
        for time in ("x", "3", None, [1]):
            with self.subTest(time=time), self.assertRaisesRegex(TypeError, "is no time; give a number of seconds"):
                self.detector(self.street, time=time)
        for time in (float("nan"), float("inf")):
            with self.subTest(time=time), self.assertRaisesRegex(sl.ArgumentError, "not a finite number"):
                self.detector(self.street, time=time)
        self.assertEqual(self.detector(self.street, time=np.float32(0.5)).time, 0.5)
        with self.assertRaisesRegex(ValueError, "stream"):
            self.detector(self.clip)
        self.assertEqual(self.detector([]), [])


    def test_tensors(self):
        """Of a class as torch's, which tests cannot rely on."""

        class Tensor:
            __module__ = "torch"
            device, is_cuda, requires_grad = "cpu", False, False

            def __array__(_, *args, **kwargs):
                if _.requires_grad or _.is_cuda:
                    raise RuntimeError("torch refuses")
                return self.street

            def detach(_):
                return Tensor()

        tensor = Tensor()
        self.assertEqual(self.detector(tensor).digest, self.detector(self.street).digest)
        tensor.requires_grad = True
        self.assertEqual(self.detector(tensor).digest, self.detector(self.street).digest)
        tensor.device, tensor.is_cuda = "cuda:0", True
        with self.assertRaisesRegex(TypeError, r"on a device; pass image.cpu\(\)"):
            self.detector(tensor)


class Results(Case):
    def setUp(self):
        self.result = self.detector(self.street)
        self.assertGreater(len(self.result), 1)

    def test_arrays_are_views_that_keep_the_result_alive(self):
        result = self.detector(self.street)
        columns = [result.xywh, result.score, result.confidence, result.class_id]
        copies = [column.copy() for column in columns]
        for column in columns:
            self.assertFalse(column.flags.writeable)
            self.assertFalse(column.flags.owndata)
        del result
        gc.collect()
        waste = [self.detector(self.street) for _ in range(5)]
        for column, copy in zip(columns, copies):
            np.testing.assert_array_equal(column, copy)
        del waste

    def test_types_and_shapes(self):
        n = len(self.result)
        for array, shape, kind in [
            (self.result.xyxy, (n, 4), np.float64),
            (self.result.xywh, (n, 4), np.float64),
            (self.result.score, (n,), np.float32),
            (self.result.confidence, (n,), np.float32),
            (self.result.class_id, (n,), np.int32),
            (self.result.cut, (n,), np.bool_),
        ]:
            self.assertEqual((array.shape, array.dtype), (shape, np.dtype(kind)))
        self.assertIsNone(self.result.tracker_id)
        self.assertIsNone(self.result.keypoints)
        self.assertEqual(self.result.names, {0: "person"})
        self.assertEqual(self.result.labels, ["person"] * n)
        self.assertEqual(self.result.identity, [None] * n)
        self.assertEqual(self.result.size, self.street.shape[1::-1])
        empty = self.detector(np.zeros((200, 200), np.uint8))
        self.assertEqual((len(empty), empty.xyxy.shape, empty.score.shape), (0, (0, 4), (0,)))
        self.assertFalse(empty)
        tiny = self.detector(np.zeros((8, 8), np.uint8))
        self.assertEqual(tiny.status, "skipped")
        self.assertIn("smaller", tiny.message)

    def test_digest_is_that_of_the_documentation(self):
        content = b""
        for box, score in zip(self.result.xywh, self.result.score):
            content += struct.pack("<4df", *box, score) + b"person\0"
        self.assertEqual(self.result.digest, hashlib.sha256(content).hexdigest()[:32])

    def test_parts(self):
        first = self.result[0]
        self.assertEqual(first.label, "person")
        np.testing.assert_allclose(first.xyxy, self.result.xyxy[0])
        self.assertEqual(self.result[-1], list(self.result)[-1])
        some = self.result[self.result.score > np.median(self.result.score)]
        np.testing.assert_array_equal(some.score, self.result.score[: len(some)])
        np.testing.assert_array_equal(self.result[[1, 0]].xywh, self.result.xywh[[1, 0]])
        self.assertEqual(len(self.result[:1]), 1)
        self.assertEqual(len(self.result[len(self.result) :]), 0)
        self.assertEqual(self.result.with_classes("person").digest, self.result.digest)
        self.assertEqual(len(self.result.with_classes([5])), 0)
        self.assertEqual(len(self.result.with_classes(0)), len(self.result))
        with self.assertRaisesRegex(ValueError, "person"):
            self.result.with_classes(["persn"])
        n = len(self.result)
        for index in (1000, -1000, n, -n - 1):
            with self.subTest(index=index), self.assertRaisesRegex(IndexError, f"no object {index}: the result has {n}"):
                self.result[index]
        with self.assertRaisesRegex(TypeError, "with_classes"):
            self.result["person"]
        self.assertEqual(len(sl.Tracker(hits=1).update(some, 0)), len(some))

    def test_crops(self):
        for crop, (left, top, right, bottom) in zip(self.result.crops(self.street), self.result.xyxy):
            self.assertLessEqual(abs(crop.shape[1] - (right - left)), 1)
            self.assertTrue(np.shares_memory(crop, self.street))
        with self.assertRaises(ValueError):
            self.result.crops(self.street[:-1])
        with self.assertRaises(ValueError):
            self.result.crops()

    def test_copies_for_other_processes(self):
        copy = pickle.loads(pickle.dumps(self.result))
        self.assertEqual((copy.digest, copy.json(), copy.size), (self.result.digest, self.result.json(), self.result.size))
        np.testing.assert_array_equal(copy.xyxy, self.result.xyxy)
        self.assertEqual(copy[0], self.result[0])
        with self.assertRaises(TypeError):
            copy[:1]
        again = pickle.loads(pickle.dumps(self.detector))
        self.assertEqual(again.fingerprint, self.detector.fingerprint)
        self.assertEqual(again(self.street).digest, self.result.digest)


class Streams(Case):
    def test_results_are_those_of_the_program(self):
        lines = subprocess.run(
            [PROGRAM, "-q", "detect", self.clip, "-d", "-", "--device", "none"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        results = list(self.detector.stream(self.clip))
        self.assertEqual([result.json() for result in results], lines)
        self.assertEqual([result.frame for result in results], list(range(1, 31)))
        self.assertEqual(results[7].image.shape, (360, 640, 3))

    def test_tiles_are_those_of_the_program(self):
        lines = subprocess.run(
            [PROGRAM, "-q", "detect", self.clip, "-d", "-", "--device", "none", "--tiles", "320", "--tile-overlap", "0.3"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        with sl.Detector("people", device="none", tiles=320, tile_overlap=0.3) as tiled:
            results = list(tiled.stream(self.clip))
            self.assertEqual([result.json() for result in results], lines)
            self.assertEqual(len(results), 30)
            self.assertNotEqual(tiled.fingerprint, self.detector.fingerprint)
            expected = tiled(self.street).digest
            self.assertEqual([one.digest for one in tiled([self.street, self.street])], [expected, expected])
        for same in ((320, 320), "320x320"):
            self.assertEqual(sl.Detector("people", device="none", tiles=same, tile_overlap=0.3)(self.street).digest, expected)

    def test_leaving_the_loop_ends_the_stream(self):
        for result in self.detector.stream(self.clip, pace=0.001, policy="newest"):
            break
        with self.assertRaises(KeyError):
            for result in self.detector.stream(self.clip, pace=0.001, policy="newest"):
                raise KeyError
        with self.detector.stream(self.clip, pace=0.001, policy="newest") as stream:
            self.assertIsNotNone(stream.read())
            self.assertIsNone(stream.read(timeout=0.01))
            self.assertFalse(stream.ended)
        self.assertTrue(stream.ended)
        self.assertIsNone(stream.read())
        del stream
        gc.collect()

    def test_close_ends_a_wait_of_another_thread(self):
        stream = self.detector.stream(self.clip, pace=0.001, policy="newest")
        stream.read()
        timer = threading.Timer(0.05, stream.close)
        timer.start()
        start = time.monotonic()
        self.assertIsNone(stream.read())
        self.assertLess(time.monotonic() - start, 5)
        timer.join()

    def test_tracks_and_counts(self):
        everywhere = [(0, 0), (1, 0), (1, 1), (0, 1)]
        stream = self.detector.stream(self.clip, track={"hits": 2}, zones={"all": everywhere})
        results = list(stream)
        self.assertIsNone(results[0].crossings or None)
        entered = [one for result in results for one in result.crossings if one.kind == "entered"]
        self.assertGreater(len(entered), 0)
        self.assertEqual(stream.counter.totals["zones"]["all"]["entered"], len(entered))
        self.assertGreater(results[-1].tracker_id.max(), 0)
        with self.assertRaisesRegex(ValueError, "tracker"):
            sl.Counter(zones={"all": everywhere}).update(self.detector(self.street))

    def test_times_of_a_tracker_rise(self):
        found = self.detector(self.street)
        tracker = sl.Tracker(hits=1)
        tracker.update(found)
        with self.assertRaisesRegex(ValueError, "time does not rise: 0 s after 0 s; give each frame's own time"):
            tracker.update(found)  # pictures have the time 0 unless it is given
        first = tracker.update(found, 0.5).tracker_id.tolist()
        with self.assertRaisesRegex(ValueError, "does not rise"):
            tracker.update(found, time=0.25)
        with self.assertRaisesRegex(ValueError, "before the last update"):
            tracker.predict(0.25)
        self.assertEqual(len(tracker.predict(0.5)), len(found))
        self.assertEqual(tracker.update(self.detector(self.street, time=1)).tracker_id.tolist(), first)

    def test_several_streams(self):
        names = [name for name, _ in sl.gather({i: self.detector.stream(self.clip) for i in range(3)})]
        self.assertEqual(sorted(names), sorted(list(range(3)) * 30))

    def test_without_a_detector(self):
        frames = list(sl.Stream(self.clip))
        self.assertEqual(len(frames), 30)
        self.assertEqual(frames[0].status, "skipped")
        self.assertEqual(frames[0].image.shape, (360, 640, 3))

    def test_errors(self):
        for call, kind, words in [
            (lambda: self.detector.stream("/nothing.mkv"), sl.InputError, "/nothing.mkv"),
            (lambda: self.detector.stream(self.clip, policy="x"), sl.ConfigError, "newest"),
            (lambda: self.detector.stream(self.clip, trak=1), sl.ConfigError, "track"),
            (lambda: sl.Stream(self.clip, "people"), TypeError, "no detector"),
            (lambda: self.detector.stream(None), TypeError, "NoneType is no input; give a path"),
            (lambda: sl.Tracker(hits=0), sl.ConfigError, "1 to 1000"),
            (lambda: sl.Counter(), sl.ConfigError, "no line"),
            (lambda: sl.Counter(lines={"a": ((0, 0), (0, 0))}), sl.ConfigError, "no length"),
            (lambda: sl.Counter(lines={"a": 3}), ValueError, "two points"),
            (lambda: sl.Counter(lines={"a": ((0, 100), (300, 100))}), sl.ConfigError, "far outside the frame"),
            (lambda: sl.Tracker().predict("now"), TypeError, "seconds"),
            (lambda: sl.Counter(lines=[((0, 0), (1, 1))]), TypeError, "dict"),
            (lambda: self.detector.stream(self.clip, zones=[[(0, 0), (1, 1), (1, 0)]]), TypeError, "dict"),
            (lambda: sl.Tracker().update(self.street), TypeError, "ndarray is no result"),
            (lambda: sl.Counter(zones={"a": [(0, 0), (1, 1), (1, 0)]}).update(None), TypeError, "no result"),
            (lambda: next(sl.gather([self.detector.stream(self.clip)])), TypeError, "dict"),
            (lambda: self.detector.stream(self.clip, vid_stride=2), sl.ConfigError, "every"),
            (
                lambda: self.detector.stream(self.clip, lines={"a": {"from": (0, 0), "to": (1, 1), "labels": ["persn"]}}),
                sl.ArgumentError,
                "no label 'persn'; there are: person",
            ),
            (lambda: self.detector.stream(9999), sl.InputError, "/dev/video9999"),
        ]:
            with self.subTest(words=words), self.assertRaises(kind) as caught:
                call()
            self.assertIn(words, str(caught.exception))


class Detectors(Case):
    def test_errors(self):
        for arguments, options, kind, words in [
            (["peple"], {}, sl.ConfigError, "'people'"),
            (["people"], {"thresold": 1}, sl.ConfigError, "'threshold'"),
            (["people"], {"threshold": "high"}, ValueError, "number"),
            (["people"], {"tiles": 63}, sl.ConfigError, "tiles"),
            (["people"], {"tiles": (640,)}, sl.ConfigError, "tiles"),
            (["people"], {"tiles": 640, "tile_overlap": 0.6}, sl.ConfigError, "tile_overlap"),
            (["people"], {"tile_overlap": 0.1}, sl.ConfigError, "tiles"),
            (["people"], {"threshold": object()}, TypeError, "object"),
            (["people"], {"conf": 0.5}, sl.ConfigError, "threshold"),
            (["people"], {"device": "nonsense"}, sl.DeviceError, "nonsense"),
            (["mine.pt"], {}, sl.ConfigError, "ONNX"),
            ([None], {}, TypeError, "no detector"),
            ([[3]], {}, TypeError, "no detector"),
            (["/nothing.onnx"], {}, sl.ConfigError, "/nothing.onnx"),
        ]:
            with self.subTest(words=words), self.assertRaises(kind) as caught:
                sl.Detector(*arguments, **options)
            self.assertIn(words, str(caught.exception))
            self.assertTrue(caught.exception.status.startswith("SL_E_"))

    def test_options(self):
        strict = sl.Detector("people", device=None, threshold=np.float32(2.0), schedule="cpu", threads=1)
        self.assertEqual(strict.explain()["threshold"], 2.0)
        self.assertNotEqual(strict.fingerprint, self.detector.fingerprint)
        self.assertEqual(strict.explain()["threads"], 1)
        both = sl.Detector(["people", "faces"], device="none")
        self.assertEqual(both.names, {0: "person", 1: "face"})
        sections = sl.Detector("people", detector={"threshold": 2.0}, schedule="cpu")
        self.assertEqual(sections.fingerprint, strict.fingerprint)

    def test_threads_share_a_detector(self):
        expected = self.detector(self.street).digest
        found = []

        def search():
            for _ in range(4):
                found.append(self.detector(self.street).digest)

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 32)

    def test_a_closed_detector_is_an_error(self):
        with sl.Detector("people", device="none") as detector:
            stream = detector.stream(self.clip)
        with self.assertRaises(sl.StateError):
            detector(self.street)
        self.assertEqual(len(list(stream)), 30)

    def test_a_search_outlives_the_detector(self):
        expected = self.detector(self.street).digest
        detector = sl.Detector("people", device="none")

        class Picture:
            def __array__(_, *args, **kwargs):  # as another thread does while the search is in the library
                detector.close()
                return self.street

        self.assertEqual(detector(Picture()).digest, expected)

    def test_versions_and_devices(self):
        self.assertIn("name", sl.devices()["cpu"])
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(sl.__version__, version)

    def test_the_log_goes_where_it_is_sent(self):
        path = os.path.join(self.folder.name, "log")
        sl.log("debug", path)
        sl.Detector("people", device="auto")(self.street)
        sl.log("off")
        for line in pathlib.Path(path).read_text().splitlines():
            self.assertTrue(line.startswith("sightline: "), line)
        with self.assertRaises(ValueError):
            sl.log("loud")


class Processes(Case):
    def test_a_forked_process_is_refused(self):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.detector(self.street)
            except sl.ForkError:
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.detector(self.street)

    def test_the_interpreter_ends_with_open_streams(self):
        code = (
            "import sightline as sl\n"
            "d = sl.Detector('people', device='none')\n"
            f"s = d.stream({self.clip!r}); r = s.read()\n"
            f"i = iter(d.stream({self.clip!r})); next(i)\n"
            "boxes = r.xywh\n"
        )
        done = run_python("-c", code)
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_ctrl_c_ends_a_wait(self):
        code = (
            "import sightline as sl, signal, os, threading\n"
            f"s = sl.Stream({self.clip!r}, pace=0.001, policy='newest'); s.read()\n"
            "threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n    s.read()\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        )
        self.assertEqual(run_python("-c", code).stdout, "interrupted\n")

    def test_a_signal_handler_may_close_the_stream_that_is_read(self):
        code = (
            "import sightline as sl, signal, os, threading\n"
            f"s = sl.Stream({self.clip!r}, pace=0.001, policy='newest'); s.read()\n"
            "signal.signal(signal.SIGTERM, lambda *_: s.close())\n"
            "threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()\n"
            "print(s.read(), s.ended)\n"
        )
        self.assertEqual(run_python("-c", code).stdout, "None True\n")

    def test_importing_loads_nothing_but_numpy(self):
        code = (
            "import sys, numpy\nbefore = set(sys.modules)\nimport sightline\n"
            "print([name for name in set(sys.modules) - before if name.startswith('numpy.')],\n"
            "      'libsightline' in open('/proc/self/maps').read())\n"
        )
        self.assertEqual(run_python("-c", code).stdout, "[] False\n")

    def test_pip_installs_a_wheel_of_the_package(self):
        folder, wheel = self.folder.name, "sightline-" + sl.__version__ + "-py3-none-any.whl"
        code = f"import wheel_of_sightline; print(wheel_of_sightline.build_wheel({folder!r}))"
        self.assertEqual(run_python("-c", code, cwd=ROOT / "apps/bindings/python").stdout, wheel + "\n")
        code = (
            f"import sys; sys.path.insert(0, {os.path.join(folder, wheel)!r}); import sightline\n"
            "import importlib.metadata as m\n"
            "print(sightline.__file__.split('/')[-3], m.version('sightline'), m.requires('sightline'))\n"
            "sightline.devices()\n"
        )
        self.assertEqual(run_python("-c", code).stdout, f"{wheel} {sl.__version__} ['numpy']\n")

    def test_the_program_runs_as_a_module(self):
        self.assertIn("sightline", run_python("-m", "sightline", "--version").stdout)
        run_python("-m", "sightline", "detect", "/nothing.mkv", code=3)

    def test_a_missing_library_is_named(self):
        done = run_python(
            "-c", "import sightline; sightline.devices()", code=1, env={**os.environ, "SIGHTLINE_LIBRARY": "/nothing.so"}
        )
        self.assertIn("/nothing.so", done.stderr)
        other = "libc.so.6"
        done = run_python(
            "-c", "import sightline; sightline.devices()", code=1, env={**os.environ, "SIGHTLINE_LIBRARY": other}
        )
        self.assertIn(f"{other} is no libsightline; set SIGHTLINE_LIBRARY", done.stderr)


class Examples(Case):
    def run_example(self, name, *arguments):
        return run_python(str(EXAMPLES / name), *arguments).stdout

    def test_all_are_run(self):
        tests = {name[len("test_") :] for name in dir(self) if name.startswith("test_")}
        for path in EXAMPLES.iterdir():
            if path.suffix in (".py", ".md"):
                self.assertIn(path.stem, tests)

    @unittest.skipUnless(Image, "needs python3-pil")
    def test_tour(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(STREET, os.path.join(folder, "street.jpg"))
            shutil.copy(self.clip, os.path.join(folder, "street.mp4"))
            blocks = re.findall(r"```python\n(.*?)```", (EXAMPLES / "tour.md").read_text(), re.DOTALL)
            shown = run_python("-c", "".join(blocks), cwd=folder).stdout
        for line in (EXAMPLES / "tour.md").read_text().splitlines():
            if "  # <sightline.Result" in line:
                self.assertIn(line.partition("# ")[2], shown)
        self.assertIn("person 0.99 [887, 282, 957, 453]", shown)
        self.assertIn("3 people\n", shown)

    def test_network(self):
        model = str(ROOT / "tests/fuzz/corpus/network/yolox.onnx")
        self.assertIn("finds ball", self.run_example("network.py", model, STREET))

    def test_recognised(self):
        gallery = os.path.join(self.folder.name, "empty.gallery")
        self.assertIn(f"{STREET}: 0 faces", self.run_example("recognised.py", gallery, STREET))

    def test_server(self):
        try:
            import fastapi  # noqa: F401
        except ImportError:
            self.skipTest("needs fastapi")
        sys.path.insert(0, str(EXAMPLES))
        import server

        def answer(body):
            sent = []
            request = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/people", "headers": []}

            async def receive():
                return {"type": "http.request", "body": body}

            async def send(message):
                sent.append(message)

            asyncio.run(server.app({**request, "query_string": b"", "scheme": "http"}, receive, send))
            return sent[0]["status"], json.loads(sent[1]["body"])

        status, found = answer(pathlib.Path(STREET).read_bytes())
        self.assertEqual((status, found["digest"]), (200, self.detector(STREET).digest))
        self.assertEqual(answer(b"no picture")[0], 415)

    def test_people(self):
        self.assertIn("people, digest", self.run_example("people.py", STREET))

    def test_count(self):
        self.assertIn("'middle': {'in':", self.run_example("count.py", self.clip))

    def test_zones(self):
        self.run_example("zones.py", self.clip)

    @unittest.skipUnless(Image, "needs python3-pil")
    def test_crops(self):
        number = int(self.run_example("crops.py", STREET, self.folder.name).split()[0])
        self.assertEqual(len(glob.glob(os.path.join(self.folder.name, "0*.png"))), number)

    def test_tiles(self):
        self.assertIn("with tiles", self.run_example("tiles.py", STREET))

    def test_cameras(self):
        self.assertIn("30 frames searched", self.run_example("cameras.py", self.clip, self.clip))

    def test_processes(self):
        lines = self.run_example("processes.py", STREET, STREET).splitlines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[0], lines[1])

    def test_evidence(self):
        notes = os.path.join(self.folder.name, "notes")
        pathlib.Path(notes).write_text(self.run_example("evidence.py", self.clip))
        self.assertIn("30 frames are equal", self.run_example("evidence.py", self.clip, notes))

    def test_supervised(self):
        try:
            import supervision  # noqa: F401
        except ImportError:
            self.skipTest("needs supervision")
        self.run_example("supervised.py", self.clip, os.path.join(self.folder.name, "out.mp4"))


if __name__ == "__main__":
    unittest.main()
