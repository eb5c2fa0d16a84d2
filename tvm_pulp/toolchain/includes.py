"""Which files a C or assembly source pulls in, so that the cache can look at their contents."""

import re
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.toolchain.compiler import ToolchainError

_REFERENCE = re.compile(
    rb"""^[ \t]*(?:
        \#[ \t]*include[ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>|(?P<computed>[A-Za-z_]\w*))
      | \.(?:include|incbin)[ \t]+"(?P<assembler>[^"\n]+)"
    )""",
    re.MULTILINE | re.VERBOSE,
)


def read_with_includes(source: Path, include_dirs: Sequence[Path]) -> list[tuple[str, bytes]]:
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
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        text = path.read_bytes()
        contents.append((name, text))
        for match in _REFERENCE.finditer(text):
            if match["computed"]:
                message = f"{path}: the build cache cannot see through #include {match['computed'].decode()}"
                raise ToolchainError(["#include"], 1, message)
            raw = match["quoted"] or match["angled"] or match["assembler"]
            written = raw.decode(errors="surrogateescape")
            search = list(include_dirs) if match["angled"] else [path.parent, *include_dirs]
            found = next((folder / written for folder in search if (folder / written).is_file()), None)
            if found is not None:
                pending.append((written, found))
    return contents
