"""The linker script of an archive: it places what was compiled, and brings in nothing else."""

import re
from pathlib import Path

from tvm_pulp.errors import UserError

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Commands that make a linker read or write other files, and names with folders, which it opens where they stand.
_OTHER_FILES = re.compile(r"\b(?:INCLUDE|INPUT|GROUP|OUTPUT|SEARCH_DIR|STARTUP|AS_NEEDED|INSERT)\b|/[A-Za-z_.~]|\"")


def check_linker_script(script: Path) -> None:
    """Raise where a linker script is no text, or names files."""
    again = "compile the model again"
    try:
        text = script.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"the archive's {script.name} is damaged: {again}") from None
    found = _OTHER_FILES.search(_COMMENT.sub(" ", text).replace("/DISCARD/", " "))
    if found is not None:
        raise UserError(f"the archive's {script.name} names other files by '{found[0]}': {again}")
