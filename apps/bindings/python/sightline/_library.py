"""The C library, loaded at the first call, and its structs (see sightline.h)."""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from ctypes import POINTER, c_char, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_ssize_t
from ctypes import c_uint8, c_uint32, c_void_p

from ._errors import Error, error_of

TYPE_CHECKING = False  # as in `typing`, whose import takes longer than that of this package
if TYPE_CHECKING:
    from typing import Any, Optional

ABI_MAJOR = 0
ABI_MINOR = 1  # the first that has all functions below

OK, END, TIMEOUT, LOST, BACK = range(5)
GRAY8, GRAY16, BGR24, RGB24, BGRA32, RGBA32, NV12, I420 = range(1, 9)


class CError(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("status", c_int32),
        ("what", c_char * 512),
        ("where", c_char * 256),
        ("hint", c_char * 256),
    ]


class CImage(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("format", c_uint32),
        ("width", c_int32),
        ("height", c_int32),
        ("plane", c_void_p * 3),
        ("stride", c_ssize_t * 3),
        ("time", c_double),
    ]


IMAGE = struct.Struct("@IIii3P3nd")  # of the same layout, to be set at once


class CObject(ctypes.Structure):
    _fields_ = [
        ("x", c_double),
        ("y", c_double),
        ("width", c_double),
        ("height", c_double),
        ("score", c_float),
        ("confidence", c_float),
        ("label", c_int32),
        ("flags", c_uint32),
        ("track", c_int64),
        ("reserved", c_double * 3),
    ]


class CAbout(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("width", c_int32),
        ("height", c_int32),
        ("status", c_int32),
        ("reserved", c_uint32),
        ("frame", c_int64),
        ("skipped", c_int64),
        ("time", c_double),
    ]


class CCount(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("label", c_int32),
        ("reserved", c_uint32),
        ("name", c_char_p),
        ("track", c_int64),
        ("time", c_double),
    ]


_ERROR = POINTER(CError)
_OUT = POINTER(c_void_p)

# Arguments by function; all return an sl_status unless they are listed below.
_ARGUMENTS: dict[str, list[Any]] = {
    "sl_abi": [],
    "sl_version": [],
    "sl_status_name": [c_int32],
    "sl_text_free": [c_void_p],
    "sl_devices": [_OUT, _ERROR],
    "sl_log": [c_int32, c_int32],
    "sl_detector_open": [c_char_p, c_char_p, _OUT, _ERROR],
    "sl_detector_search": [c_void_p, POINTER(CImage), c_size_t, _OUT, _ERROR],
    "sl_detector_labels": [c_void_p],
    "sl_detector_label": [c_void_p, c_size_t],
    "sl_detector_fingerprint": [c_void_p],
    "sl_detector_explain": [c_void_p, _OUT, _ERROR],
    "sl_detector_free": [c_void_p],
    "sl_result_objects": [c_void_p, POINTER(c_size_t), POINTER(c_size_t)],
    "sl_result_points": [c_void_p, c_size_t, POINTER(c_size_t)],
    "sl_result_name": [c_void_p, c_size_t],
    "sl_result_about": [c_void_p, POINTER(CAbout)],
    "sl_result_digest": [c_void_p, POINTER(c_uint8)],
    "sl_result_json": [c_void_p, _OUT, _ERROR],
    "sl_result_select": [c_void_p, POINTER(c_size_t), c_size_t, _OUT, _ERROR],
    "sl_result_free": [c_void_p],
    "sl_tracker_open": [c_char_p, _OUT, _ERROR],
    "sl_tracker_update": [c_void_p, c_double, c_void_p, _OUT, _ERROR],
    "sl_tracker_predict": [c_void_p, c_double, _OUT, _ERROR],
    "sl_tracker_free": [c_void_p],
    "sl_counter_open": [c_char_p, _OUT, _ERROR],
    "sl_counter_update": [c_void_p, c_void_p, POINTER(POINTER(CCount)), POINTER(c_size_t), _ERROR],
    "sl_counter_totals": [c_void_p, _OUT, _ERROR],
    "sl_counter_free": [c_void_p],
    "sl_stream_open": [c_char_p, c_void_p, c_char_p, _OUT, _ERROR],
    "sl_stream_next": [c_void_p, c_int32, _OUT, _OUT, _ERROR],
    "sl_stream_stop": [c_void_p],
    "sl_stream_state": [c_void_p, _OUT, _ERROR],
    "sl_stream_free": [c_void_p],
    "sl_frame_image": [c_void_p, POINTER(CImage)],
    "sl_frame_bgr": [c_void_p, c_void_p, c_ssize_t, _ERROR],
    "sl_frame_free": [c_void_p],
}
_RESULTS: dict[str, Any] = {
    "sl_abi": c_uint32,
    "sl_version": c_char_p,
    "sl_status_name": c_char_p,
    "sl_detector_labels": c_size_t,
    "sl_detector_label": c_char_p,
    "sl_detector_fingerprint": c_char_p,
    "sl_result_objects": c_void_p,
    "sl_result_points": c_void_p,
    "sl_result_name": c_char_p,
}


def _open() -> ctypes.CDLL:
    named = os.environ.get("SIGHTLINE_LIBRARY")
    if named:
        return ctypes.CDLL(named)
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsightline.so.0")
    if os.path.exists(beside):
        return ctypes.CDLL(beside)
    try:
        return ctypes.CDLL("libsightline.so.0")
    except OSError as error:
        raise ImportError(
            f"libsightline.so.0 cannot be loaded ({error}); install the package libsightline0, "
            "or set SIGHTLINE_LIBRARY to the file's path"
        ) from None


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library with the types of its functions. Raises ImportError."""
    opened = _open()
    try:
        opened.sl_abi.restype = c_uint32
        abi = opened.sl_abi()
    except AttributeError:
        raise ImportError(f"{opened._name} is no libsightline; set SIGHTLINE_LIBRARY to the path of libsightline.so.0") from None
    if abi >> 16 != ABI_MAJOR or (abi & 0xFFFF) < ABI_MINOR:
        raise ImportError(
            f"libsightline has interface {abi >> 16}.{abi & 0xFFFF}, and this package needs "
            f"{ABI_MAJOR}.{ABI_MINOR}; install libsightline{ABI_MAJOR} and python3-sightline of one version"
        )
    for name, arguments in _ARGUMENTS.items():
        function = getattr(opened, name)
        function.argtypes = arguments
        function.restype = _RESULTS.get(name, None if name.endswith("_free") else c_int32)
    return opened


@functools.lru_cache(maxsize=64)
def array_of(kind: Any, length: int) -> Any:
    """The type of an array. ctypes forgets it with its last array, and takes 20 microseconds to make it again."""
    return kind * length


def call(name: str, *arguments: Any) -> int:
    """Calls a function with an sl_error at the end. Returns its status; raises Error for one below 0."""
    problem = CError(struct_size=ctypes.sizeof(CError))
    status = int(getattr(library(), name)(*arguments, ctypes.byref(problem)))
    if status < 0:
        raise error_from(status, problem)
    return status


def error_from(status: int, problem: CError) -> Error:
    name = library().sl_status_name(status).decode()
    texts = (bytes(text).decode("utf-8", "replace") for text in (problem.what, problem.where, problem.hint))
    return error_of(name, *texts)


def take_text(text: c_void_p) -> str:
    """The text that a function returned, which is freed."""
    try:
        return ctypes.string_at(text.value or 0).decode("utf-8", "replace") if text.value else ""
    finally:
        library().sl_text_free(text)


_forked = False


def _mark_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_mark_fork)


class Handle:
    """Owns an object of the library, and frees it with the last reference."""

    __slots__ = ("_free", "pointer", "__weakref__")

    def __init__(self, pointer: Optional[int], free: str) -> None:
        self.pointer = pointer
        # Kept here, because modules are emptied before the last objects when the interpreter ends.
        self._free = getattr(library(), free)

    def close(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer and not _forked:
            self._free(pointer)

    def __del__(self) -> None:
        self.close()
