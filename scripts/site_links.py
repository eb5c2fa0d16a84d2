"""MkDocs calls this for every page: names of files outside docs/, of sections, and what its theme looks for."""

import re
from typing import Any

from markdown.extensions.toc import slugify

# The theme switches style sheets of a highlighter when somebody chooses light or dark, and stops where there are none.
_STYLES = '<style id="hljs-light"></style><style id="hljs-dark"></style>'


def on_config(config: Any) -> Any:
    """Sections whose title begins with a digit get another name: scripts of the theme look them up as selectors."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = section_name
    return config


def section_name(title: str, separator: str) -> str:
    """The name of a section in addresses."""
    made = slugify(title, separator)
    return f"section{separator}{made}" if made[:1].isdigit() else made


def on_post_page(output: str, **_context: Any) -> str:
    """Add the style sheets that the theme switches."""
    return output.replace("</head>", f"{_STYLES}</head>", 1)


def on_page_markdown(markdown: str, **_context: Any) -> str:
    """Turn `[text](../FILE)` into `text (FILE)`, or `FILE` where that says it; name a block's file in a line above it.

    MkDocs takes a fence with words behind its language for running text.
    """
    linked = re.sub(r"\[([^\]]+)\]\(\.\./(\1[^)/]*)\)", r"`\2`", markdown)
    linked = re.sub(r"\[([^\]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", linked)
    named = re.sub(r"^```(\w+) file=(\S+).*$", r"`\2`:\n\n```\1", linked, flags=re.MULTILINE)
    return re.sub(r"^```(\w+) [^\n`]+$", r"```\1", named, flags=re.MULTILINE)
