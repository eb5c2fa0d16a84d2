"""MkDocs calls this for every page: files outside docs/ are named, since the site does not hold them."""

import re
from typing import Any


def on_page_markdown(markdown: str, **_context: Any) -> str:
    """Turn `[text](../FILE)` into `text (FILE)`, or `FILE` where that says it; name a block's file in a line above it.

    MkDocs takes a fence with words behind its language for running text.
    """
    linked = re.sub(r"\[([^\]]+)\]\(\.\./(\1[^)/]*)\)", r"`\2`", markdown)
    linked = re.sub(r"\[([^\]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", linked)
    named = re.sub(r"^```(\w+) file=(\S+).*$", r"`\2`:\n\n```\1", linked, flags=re.MULTILINE)
    return re.sub(r"^```(\w+) [^\n`]+$", r"```\1", named, flags=re.MULTILINE)
