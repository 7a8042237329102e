"""Results: the objects of a frame as arrays."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import json
from ctypes import c_size_t, c_void_p
from dataclasses import dataclass, field

import numpy as np

from . import _library as lib
from ._errors import wrong_argument, wrong_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Optional, Sequence, Union, overload

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]
    Floats = npt.NDArray[np.float32]
    Labels = npt.NDArray[np.int32]
    Tracks = npt.NDArray[np.int64]
    Booleans = npt.NDArray[np.bool_]
    Pixels = npt.NDArray[np.uint8]
    Numbers = npt.NDArray[Any]

_PREDICTED, _CUT = 1, 2
_TRACKED, _ESTIMATED = 1, 2
_STATUSES = ("ok", "skipped", "failed")


class _Column:
    """Memory of a result as an array that keeps the result alive."""

    def __init__(self, owner: lib.Handle, address: int, shape: tuple[int, ...], kind: str, strides: tuple[int, ...]) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, True),
            "shape": shape,
            "typestr": kind,
            "strides": strides,
            "version": 3,
        }


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Object:
    """One object of a result.

    Attributes: ``xyxy`` (left, top, right and bottom edge, in pixels of the upright frame), ``score``,
    ``confidence`` (0 to 1; NaN if the model is not calibrated), ``class_id``, ``label``, ``tracker_id`` (None
    without a tracker), ``identity`` (name of a recognised object, or None), ``keypoints`` ((k, 3) array of x, y
    and confidence, or None), ``predicted`` (by the tracker) and ``cut`` (touches an edge of the frame).
    """

    xyxy: tuple[float, float, float, float]
    score: float
    confidence: float
    class_id: int
    label: str
    tracker_id: Optional[int] = None
    identity: Optional[str] = None
    keypoints: Optional[Any] = field(default=None, compare=False)
    predicted: bool = False
    cut: bool = False


@dataclass(frozen=True)
class Crossing:
    """An event of a counter.

    Attributes: ``name`` of the line or zone, ``kind`` ("in", "out", "entered", "left" or "dwell"), ``track`` (the
    object's ``tracker_id``), ``label``, and ``time`` of the frame that settled it, in seconds.
    """

    name: str
    kind: str
    track: int
    label: str
    time: float


class _Content:
    """The contents of a result. Each part is read from the library once, when it is first used."""

    def __init__(self, handle: lib.Handle) -> None:
        self.handle: Optional[lib.Handle] = handle

    @functools.cached_property
    def _objects(self) -> tuple[int, int, int]:
        """Address, number and stride."""
        assert self.handle
        n, stride = c_size_t(), c_size_t()
        address = lib.library().sl_result_objects(self.handle.pointer, ctypes.byref(n), ctypes.byref(stride)) or 0
        return address, n.value, stride.value

    @property
    def count(self) -> int:
        return self._objects[1]

    @functools.cached_property
    def about(self) -> lib.CAbout:
        assert self.handle
        about = lib.CAbout(struct_size=ctypes.sizeof(lib.CAbout))
        lib.library().sl_result_about(self.handle.pointer, ctypes.byref(about))
        return about

    def column(self, name: str, kind: str, width: int = 1) -> Any:
        address, count, stride = self._objects
        shape = (count,) if width == 1 else (count, width)
        if count == 0:
            return _read_only(np.empty(shape, kind))
        assert self.handle
        offset = getattr(lib.CObject, name).offset
        item = np.dtype(kind).itemsize
        strides = (stride,) if width == 1 else (stride, item)
        return np.asarray(_Column(self.handle, address + offset, shape, kind, strides))

    def points(self, index: int) -> Any:
        assert self.handle
        n = c_size_t()
        address = lib.library().sl_result_points(self.handle.pointer, index, ctypes.byref(n))
        if not address:
            return None
        return np.asarray(_Column(self.handle, address, (n.value, 3), "<f4", (12, 4)))

    def identity(self, index: int) -> Optional[str]:
        assert self.handle
        name = lib.library().sl_result_name(self.handle.pointer, index)
        return None if name is None else name.decode("utf-8", "replace")

    def line(self) -> str:
        assert self.handle
        text = c_void_p()
        lib.call("sl_result_json", self.handle.pointer, ctypes.byref(text))
        return lib.take_text(text)


class _Copy:
    """The same, copied whole: of a result that came from another process."""

    handle: Optional[lib.Handle] = None

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.count = len(state["score"])
        about = {name: state["about"][name] for name, _ in lib.CAbout._fields_ if name in state["about"]}
        self.about = lib.CAbout(**about)

    def column(self, name: str, kind: str, width: int = 1) -> Any:
        return _read_only(np.array(self.state[name], kind))

    def points(self, index: int) -> Any:
        return self.state["points"][index]

    def identity(self, index: int) -> Optional[str]:
        identity: Optional[str] = self.state["identity"][index]
        return identity

    def line(self) -> str:
        line: str = self.state["line"]
        return line


class Result:
    """The objects of one frame or picture, by falling score. Immutable.

    Arrays are views of the library's memory: read-only, without copies, and valid as long as they live. ``n`` is
    the number of objects, ``len(result)``. Boxes are in pixels of the upright frame; the origin is its upper left
    corner. ``result[0]`` is an :class:`Object`; ``result[mask]``, ``result[indices]`` and slices are results.
    """

    __slots__ = ("_content", "_names", "_frame", "_image", "crossings")

    def __init__(self, content: Union[_Content, _Copy], names: tuple[str, ...], frame: Optional[lib.Handle] = None) -> None:
        self._content = content
        self._names = names
        self._frame = frame
        self._image: Optional[Pixels] = None
        #: Crossings of lines and zones that the frame settled; of streams with ``lines`` or ``zones``.
        self.crossings: list[Crossing] = []

    @classmethod
    def _of(cls, pointer: Optional[int], names: tuple[str, ...], frame: Optional[int] = None) -> Result:
        content = _Content(lib.Handle(pointer, "sl_result_free"))
        return cls(content, names, lib.Handle(frame, "sl_frame_free") if frame else None)

    # --- the objects ---

    @property
    def xywh(self) -> Doubles:
        """(n, 4) float64: left and top edge, width and height."""
        columns: Doubles = self._content.column("x", "<f8", 4) if self._content.handle else self._content.column("xywh", "<f8")
        return columns.reshape(-1, 4)

    @property
    def xyxy(self) -> Doubles:
        """(n, 4) float64: left, top, right and bottom edge. A new array."""
        boxes = self.xywh.copy()
        boxes[:, 2:] += boxes[:, :2]
        return boxes

    @property
    def score(self) -> Floats:
        """(n,) float32: comparable within one model, higher is surer."""
        scores: Floats = self._content.column("score", "<f4")
        return scores

    @property
    def confidence(self) -> Floats:
        """(n,) float32: the share of such boxes that are right, 0 to 1; NaN if the model is not calibrated. ONNX
        networks are not: use ``score``."""
        confidences: Floats = self._content.column("confidence", "<f4")
        return confidences

    @property
    def class_id(self) -> Labels:
        """(n,) int32: index of the label, a key of ``names``."""
        labels: Labels = self._content.column("label", "<i4")
        return labels

    @property
    def tracker_id(self) -> Optional[Tracks]:
        """(n,) int64: identity over frames, from 1; None without a tracker."""
        if not self._content.about.flags & _TRACKED:
            return None
        tracks: Tracks = self._content.column("track", "<i8")
        return tracks

    @property
    def predicted(self) -> Booleans:
        """(n,) bool: predicted by the tracker, not found in this frame."""
        flags: Booleans = (self._content.column("flags", "<u4") & _PREDICTED) != 0
        return flags

    @property
    def cut(self) -> Booleans:
        """(n,) bool: the object touches an edge of the frame."""
        flags: Booleans = (self._content.column("flags", "<u4") & _CUT) != 0
        return flags

    @property
    def names(self) -> dict[int, str]:
        """Labels of the detector by index: ``{0: "person"}``."""
        return dict(enumerate(self._names))

    @property
    def labels(self) -> list[str]:
        """The label of each object."""
        return [self._name(int(index)) for index in self.class_id]

    @property
    def identity(self) -> list[Optional[str]]:
        """The name of each recognised object, or "unknown"; None if the detector does not recognise."""
        return [self._content.identity(i) for i in range(len(self))]

    @property
    def keypoints(self) -> Optional[Floats]:
        """(n, k, 3) float32: x, y and confidence (NaN if the model gives none) of k points; NaN where an object
        has fewer. None if no object has points."""
        points = [self._content.points(i) for i in range(len(self))]
        most = max((0 if one is None else len(one) for one in points), default=0)
        if most == 0:
            return None
        all_points: Floats = np.full((len(points), most, 3), np.nan, np.float32)
        for place, one in zip(all_points, points):
            if one is not None:
                place[: len(one)] = one
        return all_points

    # --- the frame ---

    @property
    def digest(self) -> str:
        """32 hexadecimal digits, equal on every machine and device: the first 16 bytes of the SHA-256 over, for
        each object in order and in little-endian byte order: x, y, width, height (float64), score (float32), label
        (UTF-8 and a zero byte), and x, y and confidence of each point (float32)."""
        if self._content.handle:
            digest = (ctypes.c_uint8 * 16)()
            lib.library().sl_result_digest(self._content.handle.pointer, digest)
            return bytes(digest).hex()
        hash_ = hashlib.sha256()
        for i, (box, score, label) in enumerate(zip(self.xywh, self.score, self.class_id)):
            hash_.update(box.astype("<f8").tobytes() + np.float32(score).astype("<f4").tobytes())
            hash_.update(self._name(int(label)).encode() + b"\0")
            points = self._content.points(i)
            if points is not None:
                hash_.update(np.asarray(points, "<f4").tobytes())
        return hash_.hexdigest()[:32]

    @property
    def frame(self) -> int:
        """Number of the frame in its stream, from 1; 0 for pictures that were passed as arrays."""
        return int(self._content.about.frame)

    @property
    def time(self) -> float:
        """Seconds from the start of the stream."""
        return float(self._content.about.time)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the frame, in pixels."""
        return int(self._content.about.width), int(self._content.about.height)

    @property
    def skipped(self) -> int:
        """Frames of the stream that were not searched between the result before and this one."""
        return int(self._content.about.skipped)

    @property
    def status(self) -> str:
        """"ok", "skipped" (too small to be searched, or no detector) or "failed" (a damaged picture)."""
        return _STATUSES[self._content.about.status]

    @property
    def message(self) -> str:
        """Why the status is not "ok"."""
        return str(self.to_dict().get("message", ""))

    @property
    def image(self) -> Optional[Pixels]:
        """(H, W, 3) uint8, BGR: the frame, of results of streams; None if it was not kept. Converted at the first
        use."""
        if self._image is None and self._frame is not None:
            width, height = self.size
            image = np.empty((height, width, 3), np.uint8)
            lib.call("sl_frame_bgr", self._frame.pointer, image.ctypes.data, image.strides[0])
            self._image = image
            self._frame = None  # back to the decoder
        return self._image

    # --- as a whole ---

    def __len__(self) -> int:
        return self._content.count

    def __bool__(self) -> bool:
        """Whether there are objects."""
        return self._content.count > 0

    def __iter__(self) -> Iterator[Object]:
        return (self[i] for i in range(len(self)))

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: int) -> Object: ...

        @overload
        def __getitem__(self, key: Union[slice, Sequence[int], Numbers]) -> Result: ...

    def __getitem__(self, key: Any) -> Union[Object, Result]:
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"there is no object {key}: the result has {len(self)}")
            return self._object(int(key) % len(self))
        if isinstance(key, str):
            raise wrong_type(f"{key!r} is no index", "choose by label with result.with_classes")
        try:
            indices = np.atleast_1d(np.arange(len(self))[key])
        except IndexError as error:
            raise IndexError(f"objects of a result of {len(self)}: {error}") from None
        return self._select(indices)

    def with_classes(self, names: Union[str, int, Sequence[Union[str, int]]]) -> Result:
        """The objects with a label or some labels, given by name or index. Raises ArgumentError for unknown names."""
        if isinstance(names, (str, int)):
            names = [names]
        wanted = []
        for name in names:
            if isinstance(name, str):
                if name not in self._names:
                    raise wrong_argument(f"there is no label {name!r}", "there are: " + ", ".join(self._names))
                wanted.append(self._names.index(name))
            else:
                wanted.append(int(name))
        return self._select(np.flatnonzero(np.isin(self.class_id, wanted)))

    def crops(self, image: Any = None) -> list[Pixels]:
        """The part of an image in each box, as views; those of boxes outside of it are empty.

        image: (H, W, ...) array; default: the result's own ``image``.

        Raises ArgumentError if the image has another size than the frame.
        """
        pixels = self.image if image is None else np.asarray(image)
        if pixels is None:
            raise wrong_argument("the result has no image", "pass the array that was searched")
        height, width = pixels.shape[:2]
        if (width, height) != self.size:
            raise wrong_argument(
                f"an image of {width}x{height} pixels for a frame of {self.size[0]}x{self.size[1]}",
                "pass the array that was searched",
            )
        edges = np.clip(np.round(self.xyxy), 0, [width, height, width, height]).astype(int)
        return [pixels[top:bottom, left:right] for left, top, right, bottom in edges]

    def to_dict(self) -> dict[str, Any]:
        """The contents of ``json()`` as a dict."""
        content: dict[str, Any] = json.loads(self.json())
        return content

    def json(self) -> str:
        """A line of JSON, as ``sightline detect --format jsonl`` writes it, without the line end."""
        return self._content.line()

    def to_supervision(self) -> Any:
        """``supervision.Detections``; its confidence is the score if the model is not calibrated."""
        supervision = importlib.import_module("supervision")
        confidence = self.confidence
        return supervision.Detections(
            xyxy=self.xyxy.astype(np.float32),
            confidence=np.where(np.isnan(confidence), self.score, confidence),
            class_id=self.class_id.astype(int),
            tracker_id=None if self.tracker_id is None else self.tracker_id.astype(int),
            data={"class_name": np.array(self.labels)},
        )

    def __repr__(self) -> str:
        found = ", ".join(f"{self.labels.count(name)} {name}" for name in dict.fromkeys(self.labels))
        width, height = self.size
        return f"<sightline.Result {width}x{height}, frame {self.frame}: {found or self.status + ', nothing'}>"

    def __reduce__(self) -> Any:
        about = {name: getattr(self._content.about, name) for name, _ in lib.CAbout._fields_}
        state = {
            "about": about,
            "line": self.json(),
            "xywh": self.xywh.copy(),
            "identity": self.identity,
            "points": [None if one is None else one.copy() for one in map(self._content.points, range(len(self)))],
        }
        for name, kind in (("score", "<f4"), ("confidence", "<f4"), ("label", "<i4"), ("flags", "<u4"), ("track", "<i8")):
            state[name] = self._content.column(name, kind).copy()
        return _restored, (state, self._names, self.crossings)

    # --- inside ---

    def _name(self, index: int) -> str:
        return self._names[index] if 0 <= index < len(self._names) else ""

    def _object(self, index: int) -> Object:
        left, top, width, height = (float(side) for side in self.xywh[index])
        flags = int(self._content.column("flags", "<u4")[index])
        tracks = self.tracker_id
        label = int(self.class_id[index])
        return Object(
            (left, top, left + width, top + height),
            float(self.score[index]),
            float(self.confidence[index]),
            label,
            self._name(label),
            None if tracks is None else int(tracks[index]),
            self._content.identity(index),
            self._content.points(index),
            bool(flags & _PREDICTED),
            bool(flags & _CUT),
        )

    def _select(self, indices: Any) -> Result:
        pointer = self._pointer()
        wanted = (c_size_t * len(indices))(*(int(index) for index in indices))
        out = c_void_p()
        lib.call("sl_result_select", pointer, wanted, len(indices), ctypes.byref(out))
        some = Result._of(out.value, self._names)
        some._frame, some._image = self._frame, self._image
        return some

    def _pointer(self) -> Any:
        if not self._content.handle:
            raise wrong_type(
                "the result was copied from another process", "filter and track results where they were found"
            )
        return self._content.handle.pointer


def _restored(state: dict[str, Any], names: tuple[str, ...], crossings: list[Crossing]) -> Result:
    result = Result(_Copy(state), names)
    result.crossings = crossings
    return result
