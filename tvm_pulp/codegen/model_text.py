"""Texts from a model in C: safe inside a comment, or as part of an identifier; and the frame of a header."""

import re
from collections.abc import Iterable

from tvm_pulp.qnn.network import Layer


def safe(text: str, limit: int = 100) -> str:
    """Printable ASCII that can neither end nor open a comment, nor continue a line."""
    clean = "".join(c if 32 <= ord(c) < 127 and c != "\\" else "?" for c in text)
    return clean.replace("*/", "* /").replace("/*", "/ *")[:limit]


def about_layer(layer: Layer, more: str = "") -> str:
    """Tensors of a layer, and the nodes of the model file behind it, where its name does not say it all."""
    data = ", ".join(f"{t.name} {t.spec}" for t in layer.inputs if t.kind != "constant")
    made = ", ".join(f"{t.name} {t.spec}" for t in layer.outputs)
    nodes = "" if layer.nodes in ((), (layer.name,)) else safe(f" (of {', '.join(layer.nodes)})", 120)
    return safe(f"{layer.operator}: {data} -> {made}{more}", 300) + nodes


def c_identifier(text: str) -> str:
    """The text with everything that a C identifier cannot hold replaced."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII)


def header_text(about: Iterable[str], name: str, lines: Iterable[str]) -> str:
    """A header: the comment it begins with, the guard of this name, its lines."""
    guard = f"TVMGEN_{name.upper()}_H"
    return "\n".join([*about, f"#ifndef {guard}", f"#define {guard}", "", *lines, "", f"#endif /* {guard} */", ""])
