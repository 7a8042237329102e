"""Detectors."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import c_void_p

import numpy as np

from . import _library as lib
from ._errors import Error, StateError, wrong_argument, wrong_type
from ._image import to_image
from ._options import seconds, to_toml
from ._result import Result
from ._stream import Stream
from ._tracking import check_labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Optional, Sequence, Union, overload

    from ._image import Image

    Path = Union[str, os.PathLike[str]]


class Detector:
    """Finds objects in pictures and video.

    what: the name of a configuration that ships ("people", "faces"), a .toml file, a model, an ONNX file, or a list
        of these, which then search the same pictures.
    options: the keys of a configuration, such as ``threshold=0.6``, ``min_size=48`` or ``model="mine.onnx"``;
        ``device`` ("auto", "none", "gpu", an index or a part of a name), ``schedule``, ``threads``; of networks
        ``classes=["car", "bus"]``, ``iou_threshold``, ``input_size``. None: not given.
    tiles: searches the picture and overlapping tiles of it, in which networks find small objects: a side in pixels,
        (width, height) or "1280x720". ``tile_overlap`` is the least overlap as a share of a side (0.2).

    Any number of threads may use one detector. Raises ConfigError and DeviceError.

    >>> detector = sightline.Detector("people", device="auto")
    >>> result = detector(frame)
    """

    def __init__(self, what: Union[Path, Sequence[Path]] = "people", **options: Any) -> None:
        self._arguments = (what, options)
        try:
            names = [os.fsencode(one) for one in ([what] if isinstance(what, (str, os.PathLike)) else what)]
        except TypeError:
            raise wrong_type(
                f"{type(what).__name__} is no detector", "give the name of a configuration, a path, or a list of these"
            ) from None
        out = c_void_p()
        lib.call(
            "sl_detector_open",
            b",".join(names),
            to_toml(options),
            ctypes.byref(out),
        )
        self._handle: Optional[lib.Handle] = lib.Handle(out.value, "sl_detector_free")
        self._copied = 0
        self._names = tuple(
            lib.library().sl_detector_label(out, i).decode("utf-8", "replace")
            for i in range(lib.library().sl_detector_labels(out))
        )

    if TYPE_CHECKING:

        @overload
        def __call__(
            self, images: Union[list[Any], tuple[Any, ...]], *, color: str = ..., time: float = ...
        ) -> list[Result]: ...

        @overload
        def __call__(self, images: Image, *, color: str = ..., time: float = ...) -> Result: ...

    def __call__(
        self, images: Union[Image, list[Any], tuple[Any, ...]], *, color: str = "bgr", time: float = 0.0
    ) -> Union[Result, list[Result]]:
        """Searches an image, or a list of images together. Returns a result, or a list of results.

        images: an array of (H, W) luma or (H, W, 3) or (H, W, 4) colour of 8 bits, as ``cv2.imread`` returns it; any
            object with ``__array_interface__`` or a buffer; a picture of PIL; a path; or the bytes of a JPEG or PNG
            file. Rows may have any stride; other layouts are copied once (``explain()["copied"]``).
        color: order of the channels, "bgr" or "rgb"; PIL's pictures are RGB anyway.
        time: seconds, of arrays; their results have it.

        Raises ArgumentError, which is a ValueError, and for wrong types a TypeError, too; InputError for files.
        """
        if color not in ("bgr", "rgb"):
            raise wrong_argument(f"there is no color {color!r}", "give 'bgr' or 'rgb'")
        time = seconds(time)
        if isinstance(images, np.ndarray):
            return self._search([images], color, time)[0]
        if not isinstance(images, (list, tuple)):
            if isinstance(images, (str, os.PathLike)):
                return self._search_file(os.fspath(images))
            if isinstance(images, (bytes, bytearray)):
                return self._search_bytes(bytes(images))
            return self._search([images], color, time)[0]
        results: list[Optional[Result]] = [None] * len(images)
        arrays = []
        for i, image in enumerate(images):
            if isinstance(image, (str, os.PathLike, bytes, bytearray)):
                results[i] = self(image)
            else:
                arrays.append(i)
        for i, result in zip(arrays, self._search([images[i] for i in arrays], color, time)):
            results[i] = result
        return [result for result in results if result is not None]

    def stream(
        self,
        url: Union[Path, int],
        *,
        track: Union[bool, Mapping[str, Any]] = False,
        policy: Optional[str] = None,
        queue: Optional[int] = None,
        rate: Optional[float] = None,
        lines: Optional[Mapping[str, Any]] = None,
        zones: Optional[Mapping[str, Any]] = None,
        images: bool = True,
        **options: Any,
    ) -> Stream:
        """Searches a video, a folder, a camera or a network stream. Iterate over the stream to get results.

        url: a path, an address, or the number of a camera (0: /dev/video0).
        track: follow objects over frames; a dict has the arguments of Tracker.
        policy: "all" searches every frame (the default of files), "newest" drops frames and results that wait too
            long (the default of live sources); ``Result.skipped`` counts them.
        queue: number of results that may wait.
        rate: searches per second at most.
        lines, zones: as of Counter; ``Result.crossings`` has what happened. They track the objects.
        images: keep the frames for ``Result.image``.
        every: search every n-th frame.
        start, duration: seconds of a file. ``loop`` repeats it (-1: for ever). ``pace`` is the speed (0: as fast as it
            can be searched; 1: as it was recorded).
        decoder: "software", "auto", "cuda" or "vaapi". ``threads`` are those of the decoder.
        give_up: seconds after which a lost live source is an error (default: never). It is lost after ``timeout``
            seconds without data (3), and opened again. ``live=True`` says that a source is live.
        options: ``importance`` (share of the detector among its streams), ``size="1280x720"``, ``fps`` and
            ``pixel_format`` of a camera, ``recursive`` and ``keep_going`` of a folder, ``netrc``, ``max_pixels``,
            ``allow_playlists``.

        Raises InputError and ConfigError.
        """
        counts = {"lines": lines, "zones": zones} if lines or zones else None
        check_labels([lines, zones], self._names)
        if counts and track is False:
            track = True
        options.update(track=track or None, policy=policy, queue=queue, rate=rate)
        return Stream(url, self, counts=counts, images=images, **options)

    @property
    def names(self) -> dict[int, str]:
        """Labels by index: ``{0: "person"}``."""
        return dict(enumerate(self._names))

    @property
    def fingerprint(self) -> str:
        """Hexadecimal hash of models and settings, but not of devices and schedules."""
        handle = self._opened()
        text: bytes = lib.library().sl_detector_fingerprint(handle.pointer)
        return text.decode()

    def explain(self) -> dict[str, Any]:
        """Model, labels, threshold, schedule with the processor of each stage, devices, threads; ``copied`` is the
        number of images whose memory could not be used as it was."""
        handle, text = self._opened(), c_void_p()
        lib.call("sl_detector_explain", handle.pointer, ctypes.byref(text))
        explanation: dict[str, Any] = json.loads(lib.take_text(text))
        explanation["copied"] = self._copied + explanation.pop("converted_images", 0)
        return explanation

    def close(self) -> None:
        """Frees the detector, as the end of its life does, after calls of other threads. Streams keep what they
        need of it."""
        self._handle = None

    def __enter__(self) -> Detector:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sightline.Detector {self._arguments[0]!r}>"

    def __reduce__(self) -> Any:
        return _reopened, self._arguments

    # --- inside ---

    def _opened(self) -> lib.Handle:
        """To be kept while its pointer is used: another thread may close the detector."""
        handle = self._handle
        if handle is None:
            raise StateError("the detector was closed", "", "open another one", "SL_E_STATE")
        return handle

    def _search(self, images: Sequence[Any], color: str, time: float) -> list[Result]:
        if not images:
            return []
        handle = self._opened()
        alive = []  # the pixels, for the call
        made = lib.array_of(lib.CImage, len(images))()
        for i, image in enumerate(images):
            array, copied = to_image(image, color, time, made, i)
            self._copied += copied
            alive.append(array)
        out = lib.array_of(c_void_p, len(images))()
        lib.call("sl_detector_search", handle.pointer, made, len(images), out)
        return [Result._of(pointer, self._names) for pointer in out]

    def _search_file(self, path: str) -> Result:
        with Stream(path, self, policy="all", queue=1, _deliver=True) as pictures:
            result = pictures.read()
            if result is None:
                raise wrong_argument(f"{path!r} has no picture")
            if pictures.read() is not None:
                raise wrong_argument(f"{path!r} has several pictures", "use detector.stream(path)")
        return result

    def _search_bytes(self, content: bytes) -> Result:
        file = os.memfd_create("picture")
        path = f"/proc/self/fd/{file}"
        try:
            with os.fdopen(file, "wb", closefd=False) as out:
                out.write(content)
            return self._search_file(path)
        except Error as error:
            error.what = error.what.replace(f"'{path}'", "the picture")
            error.where = error.where.replace(path, "")
            raise
        finally:
            os.close(file)


def _reopened(what: Any, options: dict[str, Any]) -> Detector:
    return Detector(what, **options)


def check_detector(detector: Any) -> Optional[lib.Handle]:
    """The detector's handle; None for no detector."""
    if detector is None:
        return None
    if not isinstance(detector, Detector):
        raise wrong_type(f"{type(detector).__name__} is no detector")
    return detector._opened()
