"""Pictures of many kinds as images of the library, without copies where that is possible."""

from __future__ import annotations

import ctypes
import os

import numpy as np

from . import _library as lib
from ._errors import wrong_argument, wrong_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Union

    import numpy.typing as npt

    class SupportsInterface(Protocol):
        @property
        def __array_interface__(self) -> Any: ...

    class SupportsArray(Protocol):
        def __array__(self) -> Any: ...

    #: What a detector searches: an array, something that NumPy makes an array of, a path, or a file's bytes.
    Image = Union[
        npt.NDArray[Any], SupportsInterface, SupportsArray, memoryview, str, os.PathLike[str], bytes, bytearray
    ]

_FORMATS = {
    ("bgr", 3): lib.BGR24,
    ("rgb", 3): lib.RGB24,
    ("bgr", 4): lib.BGRA32,
    ("rgb", 4): lib.RGBA32,
}
_BYTES = np.dtype(np.uint8)
_SWAPPED = {lib.BGR24: lib.RGB24, lib.RGB24: lib.BGR24}


def _as_array(image: Any) -> tuple[Any, str]:
    """The image as an array, and its colour if the image itself tells it."""
    if image is None:
        raise wrong_type("None is no image", "cv2.imread and cv2.VideoCapture.read give None if they can read nothing")
    module = type(image).__module__.partition(".")[0]
    if module == "PIL":
        if image.mode not in ("L", "RGB", "RGBA"):
            image = image.convert("RGB")
        return np.asarray(image), "rgb"
    if module == "torch":
        if getattr(image, "is_cuda", False) or str(getattr(image, "device", "cpu")) != "cpu":
            raise wrong_type("the tensor is on a device", "pass image.cpu()")
        if getattr(image, "requires_grad", False):
            image = image.detach()
        return np.asarray(image), ""
    if isinstance(image, np.ndarray):
        return image, ""
    if hasattr(image, "__array_interface__") or hasattr(image, "__array__"):
        return np.asarray(image), ""
    try:
        return np.asarray(memoryview(image)), ""
    except TypeError:
        raise wrong_type(
            f"{type(image).__name__} is no image",
            "pass an array of (H, W) or (H, W, 3) bytes, a picture of PIL, a path, or the bytes of a file",
        ) from None


def _check_type(array: Any) -> None:
    kind = array.dtype
    if kind == np.uint8 or (kind == np.uint16 and kind.isnative and array.ndim == 2):
        return
    if kind.kind == "f":
        raise wrong_type(
            f"an image of {kind}", "convert it to bytes: (image * 255).round().astype('uint8') for 0 to 1"
        )
    if kind == np.uint16:
        raise wrong_type("colour of 16 bits", "convert it to bytes: (image >> 8).astype('uint8')")
    raise wrong_type(f"an image of {kind}", "convert it to bytes: image.astype('uint8')")


def _check_shape(array: Any) -> Any:
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (3, 4):
        raise wrong_argument(
            f"an image of shape {array.shape} has its colours first",
            "pass image.transpose(1, 2, 0), or tensor.permute(1, 2, 0)",
        )
    if array.ndim == 4:
        raise wrong_argument(f"an image of shape {array.shape} is a batch", "pass list(images)")
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise wrong_argument(f"an image of shape {array.shape}", "pass (H, W), (H, W, 3) or (H, W, 4)")
    if array.shape[0] < 1 or array.shape[1] < 1:
        raise wrong_argument(f"an image of shape {array.shape} has no pixels")
    return array


def to_image(image: Any, color: str, time: float, images: ctypes.Array[lib.CImage], index: int) -> tuple[Any, bool]:
    """Sets one of the images. Returns what keeps its pixels alive, and whether they were copied."""
    array, own_color = (image, "") if type(image) is np.ndarray else _as_array(image)
    if array.dtype is not _BYTES:
        _check_type(array)
    if array.ndim != 2 or array.size == 0:
        array = _check_shape(array)
    channels = 1 if array.ndim == 2 else array.shape[2]
    if channels == 1:
        pixel_format = lib.GRAY8 if array.itemsize == 1 else lib.GRAY16
    else:
        pixel_format = _FORMATS[own_color or color, channels]
    height, width = array.shape[:2]
    pixel = channels * array.itemsize
    has_rows = width == 1 or array.strides[1] == pixel
    has_pixels = channels == 1 or array.strides[2] == 1
    offset = 0
    copied = False
    if channels == 3 and has_rows and array.strides[2] == -1:  # frame[..., ::-1]
        pixel_format = _SWAPPED[pixel_format]
        offset = -2
    elif not has_rows or not has_pixels or (height > 1 and abs(array.strides[0]) < width * pixel):
        array = np.ascontiguousarray(array)
        copied = True
    first = array.__array_interface__["data"][0] + offset
    size = lib.IMAGE.size
    lib.IMAGE.pack_into(
        images, index * size, size, pixel_format, width, height, first, 0, 0, array.strides[0], 0, 0, time
    )
    return array, copied
