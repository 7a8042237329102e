"""Finds objects in pictures and video.

>>> import sightline as sl
>>> detector = sl.Detector("people")
>>> result = detector(frame)          # an array as cv2.imread returns it, a path, a picture of PIL
>>> result.xyxy, result.score, result.labels
>>> for result in detector.stream("rtsp://camera/stream", track=True):
...     print(result.frame, len(result))

The library libsightline.so.0 is loaded at the first call: from $SIGHTLINE_LIBRARY, beside this package, or as the
system finds it.
"""

from __future__ import annotations

import ctypes as _ctypes
import json as _json
import os as _os
import sys as _sys

from . import _library
from ._detector import Detector
from ._errors import (
    ArgumentError,
    ArgumentTypeError,
    ConfigError,
    DeviceError,
    Error,
    ForkError,
    InputError,
    LimitError,
    OutOfMemoryError,
    StateError,
    wrong_argument,
)
from ._result import Crossing, Object, Result
from ._stream import Stream, gather
from ._tracking import Counter, Tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO as _IO
    from typing import Any as _Any
    from typing import Optional as _Optional
    from typing import Union as _Union

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ConfigError",
    "Counter",
    "Crossing",
    "Detector",
    "DeviceError",
    "Error",
    "ForkError",
    "InputError",
    "LimitError",
    "Object",
    "OutOfMemoryError",
    "Result",
    "StateError",
    "Stream",
    "Tracker",
    "devices",
    "gather",
    "log",
]

for _name in __all__:  # tracebacks and pickles name them as users do
    if _name not in ("devices", "log"):
        globals()[_name].__module__ = __name__

_LEVELS = {"off": -1, "error": 0, "warning": 1, "info": 2, "debug": 3}
_log_file: _Optional[_IO[_Any]] = None


def devices() -> dict[str, _Any]:
    """The processors of this machine: ``{"cpu": {...}, "devices": [...], "default": index or None}``."""
    text = _ctypes.c_void_p()
    _library.call("sl_devices", _ctypes.byref(text))
    found: dict[str, _Any] = _json.loads(_library.take_text(text))
    return found


def log(level: str = "info", to: _Union[None, int, str, _os.PathLike[str]] = None) -> None:
    """Writes the library's messages to a file, or to standard error. Without this call, nothing is written.

    level: "off", "error", "warning", "info" or "debug".
    to: a path, to which lines are appended, or a file descriptor.

    Raises ArgumentError for another level, and OSError for a file that cannot be opened.
    """
    global _log_file
    if level not in _LEVELS:
        raise wrong_argument(f"there is no level {level!r}", "give one of " + ", ".join(_LEVELS))
    opened: _Optional[_IO[_Any]] = None
    if isinstance(to, int):
        descriptor = to
    elif to is None:
        descriptor = _sys.__stderr__.fileno() if _sys.__stderr__ else 2
    else:
        opened = open(to, "ab", buffering=0)
        descriptor = opened.fileno()
    status = _library.library().sl_log(_LEVELS[level], descriptor)
    if status < 0:
        if opened:
            opened.close()
        raise wrong_argument(f"cannot write to {to!r}")
    before, _log_file = _log_file, opened
    if before:
        before.close()
