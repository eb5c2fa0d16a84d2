"""Of the sources of hand-written kernels those that a program needs: an archive holds no code that nobody calls.

A kernel needs the headers it includes and the sources that define functions it mentions; so do those in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_DEFINITION = re.compile(
    r"^(?:TVM_PULP_KERNEL\((?P<kernel>\w+)\)|(?!static\b)\w[\w \*]*?\b(?P<name>\w+)\([^;{]*\)) \{", re.M
)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_WORD = re.compile(r"\w+")
_PREFIX = "tvm_pulp_kernel_"


def needed_sources(files: Mapping[str, str], functions: Iterable[str]) -> dict[str, str]:
    """Files by path that programs which call these functions are built from.

    Kernels in the order in which they are called first, then what they call: code that runs one after the other lies
    beside each other, in different lines of an instruction cache.
    """
    makers = {name: path for path, text in files.items() if path.endswith(".c") for name in _defined(text)}
    kernels = list(dict.fromkeys(makers[name] for name in functions if name in makers))
    found = dict.fromkeys(kernels)

    def add(path: str) -> None:
        if path not in found:
            found[path] = None
            follow(path)

    def follow(path: str) -> None:
        for name in _INCLUDE.findall(files[path]):
            for other in files:
                if other.endswith(f"/{name}"):
                    add(other)
        if path.endswith(".c"):
            for word in _WORD.findall(files[path]):
                if word in makers:
                    add(makers[word])

    for path in kernels:
        follow(path)
    return {path: files[path] for path in found}


def _defined(text: str) -> list[str]:
    """Functions that other files can call."""
    return [_PREFIX + m["kernel"] if m["kernel"] else m["name"] for m in _DEFINITION.finditer(text)]
