"""Streams, and several of them together."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time as clock
from collections.abc import Mapping
from ctypes import c_void_p

from . import _library as lib
from ._errors import InputError, StateError, wrong_type
from ._options import to_toml
from ._result import Result
from ._tracking import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Optional, TypeVar, Union

    from ._detector import Detector

    Name = TypeVar("Name")

_SLICE = 100  # milliseconds: how long Ctrl-C may have to wait


class Stream:
    """Results of a video, a folder, a camera or a network stream, in order. Made by ``Detector.stream``; without a
    detector, frames are only read.

    url: a path, an address, or the number of a camera (0: /dev/video0).
    detector: None: frames are only read.
    counts: arguments of Counter, for ``Result.crossings``; needs ``track=True``.
    images: keep the frames for ``Result.image``.
    options: as of ``Detector.stream``.

    Iteration waits for the next result, and ends with the stream. Leaving the loop, ``close()``, ``with`` and the
    end of the object's life stop it. Memory is bounded: see ``policy`` and ``queue``. One thread at a time;
    ``close`` from any.
    """

    def __init__(
        self,
        url: Union[str, os.PathLike[str], int],
        detector: Optional[Detector] = None,
        *,
        counts: Optional[Mapping[str, Any]] = None,
        images: bool = True,
        _deliver: bool = False,
        **options: Any,
    ) -> None:
        from ._detector import check_detector

        self._handle: Optional[lib.Handle] = None
        if not isinstance(url, (str, bytes, int, os.PathLike)):
            raise wrong_type(f"{type(url).__name__} is no input", "give a path, an address, or the number of a camera")
        self._url = f"/dev/video{url}" if isinstance(url, int) else os.fsdecode(url)
        opened = check_detector(detector)
        self._names: tuple[str, ...] = detector._names if detector is not None else ()
        self._counter = Counter(**counts) if counts else None
        self._images = images and not _deliver
        self._fails = _deliver  # a result that failed is an error
        self._busy = threading.Lock()
        self._lost = False
        self._ended = False
        out = c_void_p()
        lib.call(
            "sl_stream_open",
            os.fsencode(self._url),
            None if opened is None else opened.pointer,
            to_toml(options),
            ctypes.byref(out),
        )
        self._handle = lib.Handle(out.value, "sl_stream_free")

    def __iter__(self) -> Iterator[Result]:
        try:
            while True:
                result = self.read()
                if result is None:
                    return
                yield result
        finally:
            self.close()

    def read(self, timeout: Optional[float] = None) -> Optional[Result]:
        """The next result; None at the end, and if there is none within ``timeout`` seconds (None: no limit).

        Raises InputError once if an error ended the stream, and StateError if another thread is reading.
        """
        if not self._busy.acquire(blocking=False):
            raise StateError("another thread reads the stream", "", "give each thread its own", "SL_E_STATE")
        try:
            until = None if timeout is None else clock.monotonic() + timeout
            while True:
                handle = self._handle
                if handle is None or not handle.pointer or self._ended:
                    return None
                left = _SLICE
                if until is not None:
                    left = max(0, min(_SLICE, round(1000 * (until - clock.monotonic()))))
                result = self._next(handle, left)
                if result is not None or self._ended:
                    return result
                if until is not None and clock.monotonic() >= until:
                    return None
        finally:
            self._busy.release()

    @property
    def ended(self) -> bool:
        """Whether no result will come any more."""
        return self._ended or self._handle is None

    @property
    def is_lost(self) -> bool:
        """Whether a live source is lost and is being reopened."""
        return self._lost

    @property
    def counter(self) -> Optional[Counter]:
        """The counter of ``lines`` and ``zones``."""
        return self._counter

    @property
    def state(self) -> dict[str, Any]:
        """The state of the source, and numbers of frames: see sl_stream_state in sightline.h."""
        handle = self._handle
        if handle is None or not handle.pointer:
            return {"state": "closed"}
        text = c_void_p()
        lib.call("sl_stream_state", handle.pointer, ctypes.byref(text))
        state: dict[str, Any] = json.loads(lib.take_text(text))
        return state

    def close(self) -> None:
        """Stops the stream, and ends the ``read`` of another thread. Results that were returned stay valid."""
        handle, self._handle = self._handle, None
        # Freed with its last reference, which another thread may have, or this one if it is in a signal handler.
        if handle is not None and handle.pointer:
            lib.library().sl_stream_stop(handle.pointer)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<sightline.Stream {self._url!r}>"

    def _next(self, handle: lib.Handle, milliseconds: int) -> Optional[Result]:
        out, frame = c_void_p(), c_void_p()
        status = lib.call(
            "sl_stream_next",
            handle.pointer,
            milliseconds,
            ctypes.byref(out),
            ctypes.byref(frame) if self._images else None,
        )
        if status == lib.OK:
            self._lost = False
            result = Result._of(out.value, self._names, frame.value)
            if self._fails and result.status == "failed":
                raise InputError(result.message, self._url, "", "SL_E_INPUT")
            if self._counter:
                result.crossings = self._counter.update(result)
            return result
        self._lost = status == lib.LOST or (self._lost and status != lib.BACK)
        self._ended = status == lib.END
        return None


def gather(streams: Mapping[Name, Stream]) -> Iterator[tuple[Name, Result]]:
    """Results of several streams as they come, with the names of their streams, until all have ended.

    >>> for name, result in sightline.gather({"gate": detector.stream(...), "yard": detector.stream(...)}):
    """
    if not isinstance(streams, Mapping):
        raise wrong_type("the streams have no names", 'pass a dict: {"gate": stream, "yard": stream}')
    left = dict(streams)
    pause = 0.001
    try:
        while left:
            found = False
            for name, stream in list(left.items()):
                result = stream.read(0)
                if result is not None:
                    found = True
                    yield name, result
                elif stream.ended:
                    del left[name]
            pause = 0.001 if found else min(2 * pause, 0.01)
            if not found and left:
                clock.sleep(pause)
    finally:
        for stream in streams.values():
            stream.close()
