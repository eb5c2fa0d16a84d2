"""A shared object that is open as long as somebody needs it: ctypes itself never closes what it opened."""

import _ctypes
import ctypes
from pathlib import Path
from typing import Any, Self


class OpenLibrary:
    """Functions and symbols of a shared object, until `close`, the end of a `with`, or until nobody refers to it.

    What it hands out is worth nothing after that: call functions, and read memory, while it is open.
    """

    def __init__(self, path: Path) -> None:
        self._library: ctypes.CDLL | None = ctypes.CDLL(str(path))

    def _opened(self) -> ctypes.CDLL:
        if self._library is None:
            raise ValueError("the library is closed")
        return self._library

    def function(self, name: str) -> Any:
        """A function by its name. A library of ctypes keeps those that are asked for as attributes, and they it."""
        return self._opened()[name]

    def address(self, name: str) -> int:
        """The address of a symbol."""
        return ctypes.addressof(ctypes.c_char.in_dll(self._opened(), name))

    def close(self) -> None:
        """Take it out of the process."""
        library, self._library = self._library, None
        if library is not None:
            _ctypes.dlclose(library._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_library", None) is not None:
            self.close()
