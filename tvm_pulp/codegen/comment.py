"""Text from a model, made safe inside a C comment."""


def safe(text: str, limit: int = 100) -> str:
    """Printable ASCII that can neither end nor open a comment, nor continue a line."""
    clean = "".join(c if 32 <= ord(c) < 127 and c != "\\" else "?" for c in text)
    return clean.replace("*/", "* /").replace("/*", "/ *")[:limit]


def nodes_of(name: str, nodes: tuple[str, ...], limit: int = 120) -> str:
    """` (of a, b)`: nodes of the model file behind a layer, where its name does not say it all."""
    if not nodes or nodes == (name,):
        return ""
    return safe(f" (of {', '.join(nodes)})", limit)
