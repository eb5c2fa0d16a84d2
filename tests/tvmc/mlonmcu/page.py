"""Commands of docs/mlonmcu.md."""

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mlonmcu.md"


def commands() -> list[list[str]]:
    """Every command of the page, in words."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.strip()]


def arguments(label: str) -> list[str]:
    """What follows `tvmpulp-mlonmcu` in the command whose session has that label."""
    ours = [words for words in commands() if words[0] == "tvmpulp-mlonmcu" and "-l" in words]
    (found,) = [words for words in ours if words[words.index("-l") + 1] == label]
    return found[1:]
