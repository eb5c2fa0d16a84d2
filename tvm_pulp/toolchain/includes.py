"""Which files a C or assembly source pulls in, so that the cache can look at their contents.

Sources may come from anybody: what is pulled in lies beside them, in the include folders or with the compiler. A name
that leads anywhere else is refused, and so is one that cannot be read off the text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from tvm_pulp.input_file import is_input_file
from tvm_pulp.toolchain.compiler import ToolchainError

# What begins every directive, also in its other spellings. It is sought first: weights are megabytes of lines without.
_MARK = re.compile(rb"#|%:|\?\?=")
# Behind a mark: blanks, comments and line ends that the preprocessor drops.
_GAP = rb"(?:[ \t\v\f]|/\*.*?\*/|\\\r?\n|\?\?/\r?\n)*"
_DIRECTIVE = re.compile(_GAP + rb"(?P<name>(?:\w|\\\r?\n|\?\?/\r?\n)+)" + _GAP, re.DOTALL)
_SPLICE = re.compile(rb"(?:\\|\?\?/)\r?\n")
_NAMED = re.compile(rb'"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>')
_PULLING = (b"include", b"include_next", b"import", b"embed")
# Directives of the assembler, in a source of its own or in a text of C.
_ASSEMBLER = re.compile(rb"\b(?:incbin|(?<=\.)include)\b")
_ASSEMBLER_NAME = re.compile(rb'[ \t]+\\?"(?P<name>[^"\\\n]+)\\?"')


class IncludeReader:
    """Reads sources that share their headers: each file once."""

    def __init__(self, include_dirs: Sequence[Path]) -> None:
        self._include_dirs = list(include_dirs)
        self._file = cache(self._read_file)

    def read(self, source: Path) -> list[tuple[str, bytes]]:
        """Return (name as written, content) of `source` and of everything it may include, in order of discovery.

        Conditional compilation is ignored, so the list can be longer than what the compiler reads, never shorter.
        System headers belong to the compiler and are left out. Names are as written, not paths, so that the same
        sources in another folder give the same list.
        """
        contents: list[tuple[str, bytes]] = []
        pending = [(source.name, source)]
        seen: set[Path] = set()
        while pending:
            name, path = pending.pop()
            place, text, included = self._file(path)
            if place not in seen:
                seen.add(place)
                contents.append((name, text))
                pending += included
        return contents

    def _read_file(self, path: Path) -> tuple[Path, bytes, list[tuple[str, Path]]]:
        """The real path of a file, its content, and the files that it includes: names as written, and paths."""
        text, included = path.read_bytes(), []
        for written, is_angled in _references(text, path):
            search = self._include_dirs if is_angled else [path.parent, *self._include_dirs]
            found = next((folder / written for folder in search if is_input_file(folder / written)), None)
            if found is not None:
                included.append((written, found))
        return path.resolve(), text, included


def _references(text: bytes, path: Path) -> Iterator[tuple[str, bool]]:
    """Names of files that a text pulls in, and whether they are sought in the include folders only."""
    for mark in _MARK.finditer(text):
        # In front of a directive there are blanks, or a comment that ends.
        before = text[text.rfind(b"\n", 0, mark.start()) + 1 : mark.start()].strip()
        if before and not before.endswith(b"/"):
            continue
        directive = _DIRECTIVE.match(text, mark.end())
        if directive is None or _SPLICE.sub(b"", directive["name"]) not in _PULLING:
            continue
        named = _NAMED.match(text, directive.end())
        if named is None:
            raise _refused(path, "#include of a name that is computed", "see through")
        yield _inside(named["quoted"] or named["angled"] or b"", path), named["angled"] is not None
    for word in _ASSEMBLER.finditer(text):
        named = _ASSEMBLER_NAME.match(text, word.end())
        if named is None:
            raise _refused(path, f".{word[0].decode()} of a name that is computed", "see through")
        yield _inside(named["name"], path), False


def _inside(name: bytes, path: Path) -> str:
    """The name of a file that does not lead out of the folder it is sought in."""
    written = name.decode(errors="surrogateescape")
    place = PurePosixPath(written)
    if not written or "\0" in written or place.is_absolute() or ".." in place.parts or "\\" in written:
        shown = written.encode("ascii", "backslashreplace").decode()
        raise _refused(path, f"'{shown}', which lies outside of the sources' folders,", "include")
    return written


def _refused(path: Path, what: str, verb: str) -> ToolchainError:
    message = f"error: {path.name}: the build does not {verb} {what}: name a file beside it"
    return ToolchainError(["#include"], 1, message)
