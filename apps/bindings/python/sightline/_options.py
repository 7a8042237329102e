"""Options as TOML text."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from ._errors import ConfigError, wrong_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Options of other packages, and what does the same here.
_ELSEWHERE = {
    "conf": "threshold for scores, or confidence for calibrated models",
    "imgsz": "input_size of a network",
    "iou": "iou_threshold of a network",
    "persist": "one stream, or a Tracker",
    "stream": "Detector.stream",
    "verbose": "sightline.log; nothing is printed without it",
    "vid_stride": "every of Detector.stream",
    "weights": "the first argument of Detector",
}


def _string(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    out = []
    for one in text:
        if one in escapes:
            out.append(escapes[one])
        elif ord(one) < 0x20 or ord(one) == 0x7F:
            out.append(f"\\u{ord(one):04x}")
        else:
            out.append(one)
    return '"' + "".join(out) + '"'


def _value(name: str, value: Any) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of NumPy's
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, os.PathLike):
        return _string(os.fspath(value))
    if isinstance(value, Mapping):
        inner = ", ".join(
            f"{_string(str(key))} = {_value(str(key), one)}" for key, one in value.items() if one is not None
        )
        return "{ " + inner + " }"
    if hasattr(value, "tolist"):  # an array of NumPy's
        value = value.tolist()
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(name, one) for one in value) + "]"
    raise wrong_type(f"option {name!r} is {type(value).__name__}", "give a number, a text, a list or a dict")


def seconds(time: Any) -> float:
    """A time that a caller gave."""
    try:
        if not isinstance(time, (str, bytes, bytearray)):
            return float(time)
    except (TypeError, ValueError, OverflowError):
        pass
    raise wrong_type(f"{time!r} is no time", "give a number of seconds")


def to_toml(options: Mapping[str, Any]) -> bytes:
    """The options as TOML in UTF-8. None means that an option is not given."""
    for key in options:
        if key in _ELSEWHERE:
            raise ConfigError(f"there is no option {key!r}", "", f"use {_ELSEWHERE[key]}", "SL_E_CONFIG")
    lines = [f"{_string(key)} = {_value(key, value)}" for key, value in options.items() if value is not None]
    try:
        return "\n".join(lines).encode()
    except UnicodeEncodeError:
        raise wrong_type("an option is text that cannot be written as UTF-8") from None
