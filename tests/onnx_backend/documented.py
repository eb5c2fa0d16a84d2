"""What the page about ONNX's tests promises: reasons of refusals, and cases whose result is another framework's."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "onnx_backend.md"


def table(heading: str) -> list[list[str]]:
    """Rows of the table whose first column has this heading."""
    text = PAGE.read_text(encoding="utf-8")
    (rows,) = re.findall(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.M)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]


def reasons() -> dict[str, list[str]]:
    """Words of the sentences by reason."""
    return {reason: re.findall(r"`([^`]+)`", words) for reason, words in table("reason")}


def reason_of(sentence: str) -> str | None:
    """The documented reason that a refusal states: the one with the longest words in the sentence."""
    found = [(len(w), reason) for reason, words in reasons().items() for w in words if w in sentence]
    return max(found)[1] if found else None


def exceptions() -> set[str]:
    """Names of the cases that differ from ONNX's reference."""
    return {name for row in table("case") for name in re.findall(r"`([^`]+)`", row[0])}
