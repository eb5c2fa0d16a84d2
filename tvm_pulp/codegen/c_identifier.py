"""Names from a model as parts of C identifiers."""

import re


def c_identifier(text: str) -> str:
    """The text with everything that a C identifier cannot hold replaced."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII)
