"""Trackers and counters."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_size_t, c_void_p

from . import _library as lib
from ._errors import wrong_argument, wrong_type
from ._options import seconds, to_toml
from ._result import Crossing, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

_KINDS = {1: "in", 2: "out", 3: "entered", 4: "left", 5: "dwell"}


class Tracker:
    """Follows the objects of one stream of frames. One thread at a time.

    hits: frames that must show an object before it is reported (default 3; 1: at once).
    gap: seconds over which a missed object is predicted (0.3).
    lost: seconds without a detection after which a track ends (1).
    misses: frames that may miss an object not yet reported (1).
    start: minimum score that starts a track.
    overlap: minimum intersection over union of an object in two frames (0.3).
    pause: longest time between frames, in seconds (3).

    Raises ConfigError.
    """

    def __init__(self, **options: Any) -> None:
        out = c_void_p()
        lib.call("sl_tracker_open", to_toml(options), ctypes.byref(out))
        self._handle = lib.Handle(out.value, "sl_tracker_free")
        self._names: tuple[str, ...] = ()

    def update(self, result: Result, time: Optional[float] = None) -> Result:
        """Adds a result; returns the tracked objects.

        time: seconds, rising from call to call; default: the result's own, which is 0 for a picture unless the
            detector was given its ``time``.

        Raises ArgumentError for a time that does not rise (another video needs a tracker of its own), and StateError
        if another thread uses the tracker.
        """
        pointer = _pointer_of(result)
        self._names = result._names
        out = c_void_p()
        when = result.time if time is None else seconds(time)
        lib.call("sl_tracker_update", self._handle.pointer, when, pointer, ctypes.byref(out))
        tracked = Result._of(out.value, self._names)
        tracked._frame, tracked._image = result._frame, result._image
        return tracked

    def predict(self, time: float) -> Result:
        """The objects at a time after the last update, in seconds, for a frame that was not searched. Raises
        ArgumentError for a time before it."""
        out = c_void_p()
        lib.call("sl_tracker_predict", self._handle.pointer, seconds(time), ctypes.byref(out))
        return Result._of(out.value, self._names)


def _pointer_of(result: Any) -> Any:
    if not isinstance(result, Result):
        raise wrong_type(f"{type(result).__name__} is no result", "pass what a detector or a stream returned")
    return result._pointer()


def _line(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    try:
        begin, end = value
    except (TypeError, ValueError):
        raise wrong_argument(f"{value!r} is no line", "give two points, such as ((0.2, 0.8), (0.8, 0.8))") from None
    return {"from": begin, "to": end}


def _zone(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {"polygon": value}


def _named(rules: Optional[Mapping[str, Any]], what: str, read: Any) -> Any:
    if not rules:
        return None
    if not isinstance(rules, Mapping):
        raise wrong_type(f"the {what} have no names", f'pass a dict: {what}={{"door": ...}}')
    return {name: read(one) for name, one in rules.items()}


def check_labels(rules: Sequence[Optional[Mapping[str, Any]]], names: Sequence[str]) -> None:
    """A label that the detector does not have would count nothing."""
    for one in (one for by_name in rules if isinstance(by_name, Mapping) for one in by_name.values()):
        for label in one.get("labels", ()) if isinstance(one, Mapping) else ():
            if label not in names:
                raise wrong_argument(f"there is no label {label!r}", "there are: " + ", ".join(names))


class Counter:
    """Counts tracked objects of one stream that cross lines, or enter and leave zones. Threads take turns.

    lines: by name, two points, or a dict with ``from``, ``to``, ``frames``, ``anchor``, ``labels``.
    zones: by name, the corners of a polygon, or a dict with ``polygon``, ``inertia``, ``dwell``, ``anchor``,
        ``labels``.
    lost: seconds after which a track without an object has ended (5).
    Points are shares of the frame's width and height. Raises ConfigError.

    >>> counter = sightline.Counter(lines={"door": ((0.2, 0.8), (0.8, 0.8))})
    >>> counter.update(tracked)
    >>> counter.totals
    {'lines': {'door': {'in': 1, 'out': 0}}, 'zones': {}}
    """

    def __init__(
        self,
        lines: Optional[Mapping[str, Any]] = None,
        zones: Optional[Mapping[str, Any]] = None,
        lost: Optional[float] = None,
    ) -> None:
        rules = {
            "lines": _named(lines, "lines", _line),
            "zones": _named(zones, "zones", _zone),
            "lost": lost,
        }
        out = c_void_p()
        lib.call("sl_counter_open", to_toml(rules), ctypes.byref(out))
        self._handle = lib.Handle(out.value, "sl_counter_free")
        self._busy = threading.Lock()

    def update(self, result: Result) -> list[Crossing]:
        """Adds a result of a tracker; returns what it settled. Raises ArgumentError for a result of no tracker."""
        pointer = _pointer_of(result)
        events, n = POINTER(lib.CCount)(), c_size_t()
        crossings = []
        with self._busy:  # events are valid until the next call
            lib.call(
                "sl_counter_update", self._handle.pointer, pointer, ctypes.byref(events), ctypes.byref(n)
            )
            address = ctypes.cast(events, c_void_p).value or 0
            for i in range(n.value):
                one = lib.CCount.from_address(address + i * events[0].struct_size)
                name = one.name.decode("utf-8", "replace")
                crossings.append(Crossing(name, _KINDS[one.kind], one.track, result._name(one.label), one.time))
        return crossings

    @property
    def totals(self) -> dict[str, Any]:
        """Numbers of all events so far: ``{"lines": {name: {"in":, "out":}}, "zones": {name: {"entered":, "left":, "inside":}}}``."""
        text = c_void_p()
        with self._busy:
            lib.call("sl_counter_totals", self._handle.pointer, ctypes.byref(text))
        totals: dict[str, Any] = json.loads(lib.take_text(text))
        return totals
