"""Processes that a process has started, and theirs."""

from pathlib import Path


def descendants(parent: int) -> list[int]:
    """Numbers of all of them, where the system tells."""
    found = []
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            children = path.read_text(encoding="ascii").split()
        except OSError:
            continue  # it has ended since
        for child in map(int, children):
            found += [child, *descendants(child)]
    return found
