"""Exceptions: what went wrong, where, and what to do about it."""

from __future__ import annotations


class Error(Exception):
    """An error of the library.

    Attributes: ``what`` went wrong, ``where`` (file and line, device, image or stream; may be empty), ``hint``
    (what to do; may be empty) and ``status`` (such as ``"SL_E_INPUT"``).
    """

    def __init__(self, what: str, where: str = "", hint: str = "", status: str = "SL_E_INTERNAL") -> None:
        super().__init__(what, where, hint, status)
        self.what = what
        self.where = where
        self.hint = hint
        self.status = status

    def __str__(self) -> str:
        text = self.what if not self.where or self.where in self.what else f"{self.where}: {self.what}"
        return f"{text}; {self.hint}" if self.hint else text


class ArgumentError(Error, ValueError):
    """An argument of a call is wrong."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that cannot be used."""


class ConfigError(Error, ValueError):
    """A configuration, a model or an option is wrong."""


class InputError(Error):
    """A file or a stream cannot be read."""


class DeviceError(Error):
    """A device that was asked for is missing or does not work."""


class LimitError(Error, ValueError):
    """Something is larger than the library allows."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class ForkError(Error, RuntimeError):
    """The process was forked after Sightline was in use: use multiprocessing's start method "spawn"."""


class StateError(Error, RuntimeError):
    """Another thread is in a call that only one may be in, or the object was closed."""


_KINDS: dict[str, type[Error]] = {
    "SL_E_ARGUMENT": ArgumentError,
    "SL_E_CONFIG": ConfigError,
    "SL_E_INPUT": InputError,
    "SL_E_DEVICE": DeviceError,
    "SL_E_LIMIT": LimitError,
    "SL_E_MEMORY": OutOfMemoryError,
    "SL_E_FORKED": ForkError,
    "SL_E_STATE": StateError,
}


def error_of(status: str, what: str, where: str, hint: str) -> Error:
    return _KINDS.get(status, Error)(what, where, hint, status)


def wrong_argument(what: str, hint: str = "") -> ArgumentError:
    return ArgumentError(what, "", hint, "SL_E_ARGUMENT")


def wrong_type(what: str, hint: str = "") -> ArgumentTypeError:
    return ArgumentTypeError(what, "", hint, "SL_E_ARGUMENT")
