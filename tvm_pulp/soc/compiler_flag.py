"""Flags for a C compiler as a SoC description or an archive may state them: of code generation, and nothing else.

No flag names a file, loads a plug-in or hands something to another program: who sends an archive or a description must
not make the compiler read, write or start anything.
"""

import re
from typing import Annotated

from pydantic import AfterValidator

_KNOWN = re.compile(
    r"-(O[0-3sz]?|g[0-3]?|std=[a-z0-9+]+|[DU][A-Za-z_]\w*(=\w*)?"
    r"|m[a-z][a-z0-9.-]*(=[\w+.,-]+)?|f[a-z][a-z0-9-]*(=[\w+-]+)?|W[a-z][a-z0-9-]*(=[a-z0-9-]+)?)",
    re.ASCII,
)
_REFUSED = ("plugin", "profile", "dump", "info", "save", "record", "module", "report", "use-ld", "llvm")


def check_flag(flag: str) -> str:
    """The flag; ValueError where it does more than choose how code is generated."""
    if not _KNOWN.fullmatch(flag) or any(word in flag for word in _REFUSED):
        raise ValueError(f"'{flag[:60]}' is no flag that only chooses how code is generated")
    return flag


CompilerFlag = Annotated[str, AfterValidator(check_flag)]
