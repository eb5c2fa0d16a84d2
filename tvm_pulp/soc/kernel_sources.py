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
    """Files by path, in their order, that programs which call these functions are built from."""
    makers = {name: path for path, text in files.items() if path.endswith(".c") for name in _defined(text)}
    wanted = [makers[name] for name in dict.fromkeys(functions) if name in makers]
    found: set[str] = set()
    while wanted:
        path = wanted.pop()
        if path in found:
            continue
        found.add(path)
        wanted += [other for name in _INCLUDE.findall(files[path]) for other in files if other.endswith(f"/{name}")]
        if path.endswith(".c"):
            wanted += [makers[word] for word in set(_WORD.findall(files[path])) if word in makers]
    return {path: text for path, text in files.items() if path in found}


def _defined(text: str) -> list[str]:
    """Functions that other files can call."""
    return [_PREFIX + m["kernel"] if m["kernel"] else m["name"] for m in _DEFINITION.finditer(text)]
