"""The exceptions of the package. Their text is the library's: what was found, what was expected."""

from __future__ import annotations


class Error(Exception):
    """Anything that the library refuses or cannot do."""


class InvalidError(Error, ValueError):
    """An option, a name or a value was refused."""


class FormatError(Error, ValueError):
    """A file does not have the expected format."""


class FileError(Error, OSError):
    """The system could not read or write."""


class OutOfMemory(Error, MemoryError):
    """Memory ran out."""


class Stopped(Error):
    """A long call was asked to stop."""


class LogWarning(UserWarning):
    """Something that inspect() says of a log that fit() or tune() uses."""


def missing(package: str, what: str) -> ImportError:
    """An optional package is not installed."""
    return ImportError(f"{what} needs the package {package}: pip install {package}")
