"""docs/limits.md names every limit with its default."""

from pathlib import Path

from tvm_pulp import limits

REPOSITORY = Path(__file__).resolve().parents[2]
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"))


def shown(number: int, of: str) -> str:
    """A default as people write it."""
    for size, unit in _UNITS:
        if "bytes" in of and number % size == 0:
            return f"{number // size} {unit}"
    return f"{number:,}"


def test_the_page_lists_every_limit() -> None:
    text = (REPOSITORY / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    wanted = [f"| `{e.name}` | {shown(e.default, e.of)} | {e.of} |" for e in limits.LIMITS.values()]
    assert rows == wanted, "\n".join(wanted)
    for value in (limits.LARGEST_FILE + 1, limits.LARGEST_CONSTANTS, limits.LARGEST_TENSOR, limits.LARGEST_FOLDED):
        assert shown(value, "bytes") in text
    for number in (limits.MOST_NODES, limits.MOST_READERS, limits.MOST_AXES, limits.LONGEST_NAME):
        assert f"{number:,}" in text
