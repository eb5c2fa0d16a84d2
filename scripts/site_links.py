"""MkDocs calls this for every page: files outside docs/ are named, since the site does not hold them."""

import re
from typing import Any


def on_page_markdown(markdown: str, **_context: Any) -> str:
    """Turn `[text](../FILE)` into `text (FILE)`."""
    return re.sub(r"\[([^\]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", markdown)
