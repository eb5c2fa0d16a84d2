"""Texts from a model in C: safe inside a comment, or as part of an identifier; and the frame of a header."""

import re
from collections.abc import Iterable


def safe(text: str, limit: int = 100) -> str:
    """Printable ASCII that can neither end nor open a comment, nor continue a line."""
    clean = "".join(c if 32 <= ord(c) < 127 and c != "\\" else "?" for c in text)
    return clean.replace("*/", "* /").replace("/*", "/ *")[:limit]


def nodes_of(name: str, nodes: tuple[str, ...], limit: int = 120) -> str:
    """` (of a, b)`: nodes of the model file behind a layer, where its name does not say it all."""
    return "" if not nodes or nodes == (name,) else safe(f" (of {', '.join(nodes)})", limit)


def c_identifier(text: str) -> str:
    """The text with everything that a C identifier cannot hold replaced."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII)


def header_text(about: Iterable[str], name: str, lines: Iterable[str]) -> str:
    """A header: the comment it begins with, the guard of this name, its lines."""
    guard = f"TVMGEN_{name.upper()}_H"
    return "\n".join([*about, f"#ifndef {guard}", f"#define {guard}", "", *lines, "", f"#endif /* {guard} */", ""])
