"""Text from a model, made safe inside a C comment."""

from __future__ import annotations


def safe(text: str, limit: int = 100) -> str:
    """Printable ASCII that can neither end nor open a comment, nor continue a line."""
    clean = "".join(c if 32 <= ord(c) < 127 and c != "\\" else "?" for c in text)
    return clean.replace("*/", "* /").replace("/*", "/ *")[:limit]
