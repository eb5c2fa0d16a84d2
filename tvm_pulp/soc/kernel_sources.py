"""Sources of hand-written kernels: where they lie, and those that a program needs.

An archive holds no code that nobody calls. A kernel needs the headers it includes and the sources that define functions
it mentions; so do those in turn. Parts of files that stand between `/* <name> */` and `/* </name> */` are for networks
that have what is named: other networks' code, and with it the place of every function, is as if they were not there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

_DEFINITION = re.compile(
    r"^(?:TVM_PULP_KERNEL\((?P<kernel>\w+)\)|(?!static\b)\w[\w \*]*?\b(?P<name>\w+)\([^;{]*\)) \{", re.M
)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_WORD = re.compile(r"\w+")
_PART = re.compile(r"^ */\* <(?P<name>[\w ]+)> \*/\n(?P<text>.*?)^ */\* </(?P=name)> \*/\n\n?", re.M | re.S)
PREFIX = "tvm_pulp_kernel_"
_ADDED: list[Path] = []


def add_kernels(folder: Path) -> None:
    """Make kernels known that do not come with this package.

    The folder is like `c_runtime/kernels`: headers in `include/`, sources in a folder per family of cores. A family
    without a folder takes `generic/`.
    """
    if folder not in _ADDED:
        _ADDED.append(folder)


def added_kernels() -> tuple[Path, ...]:
    """Folders that were made known."""
    return tuple(_ADDED)


def kernel_texts(family: str) -> dict[str, str]:
    """Headers and sources of a family by their paths in the runtime's folder of an archive."""
    own = resources.files("c_runtime").joinpath("kernels")
    found = {f"kernels/{f}/{path}": text for f in ("include", family) for path, text in texts_in(own.joinpath(f))}
    for folder in _ADDED:
        places = {"include": folder / "include", family: folder / family}
        if not places[family].is_dir():
            places[family] = folder / "generic"
        found |= {f"kernels/{f}/{path}": text for f, place in places.items() for path, text in texts_in(place)}
    return found


def added_headers(functions: Iterable[str]) -> list[str]:
    """Headers of added kernels that declare one of these functions, as code includes them."""
    kernels = [name.removeprefix(PREFIX) for name in functions]
    texts = [entry for folder in _ADDED for entry in texts_in(folder / "include")]
    return [path for path, text in texts if any(f"TVM_PULP_KERNEL({kernel})" in text for kernel in kernels)]


def texts_in(folder: Traversable, suffixes: tuple[str, ...] = (".c", ".h")) -> Iterator[tuple[str, str]]:
    """Files of a folder and those inside it, by name."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            yield from ((f"{entry.name}/{path}", text) for path, text in texts_in(entry, suffixes))
        elif entry.name.endswith(suffixes):
            yield entry.name, entry.read_text(encoding="utf-8")


def with_parts(files: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """Files with the named parts, without their marks and without all other parts."""
    return {path: _PART.sub(lambda m: m["text"] if m["name"] in parts else "", text) for path, text in files.items()}


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
    return [PREFIX + m["kernel"] if m["kernel"] else m["name"] for m in _DEFINITION.finditer(text)]
