"""Which files a C or assembly source pulls in, so that the cache can look at their contents."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tvm_pulp.toolchain.compiler import ToolchainError

# What every reference holds. It is sought first: weights are megabytes of lines without one.
_WORD = re.compile(rb"inc(?:lude|bin)")
_REFERENCE = re.compile(
    rb"""[ \t]*(?:
        \#[ \t]*include[ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>|(?P<computed>[A-Za-z_]\w*))
      | \.(?:include|incbin)[ \t]+"(?P<assembler>[^"\n]+)"
    )""",
    re.VERBOSE,
)


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
        for word in _WORD.finditer(text):
            match = _REFERENCE.match(text, text.rfind(b"\n", 0, word.start()) + 1)
            if match is None:
                continue
            if match["computed"]:
                message = f"{path}: the build cache cannot see through #include {match['computed'].decode()}"
                raise ToolchainError(["#include"], 1, message)
            raw = match["quoted"] or match["angled"] or match["assembler"]
            written = raw.decode(errors="surrogateescape")
            search = self._include_dirs if match["angled"] else [path.parent, *self._include_dirs]
            found = next((folder / written for folder in search if (folder / written).is_file()), None)
            if found is not None:
                included.append((written, found))
        return path.resolve(), text, included
