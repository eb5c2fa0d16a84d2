"""Stories for training, and held-out stories that share no run of eight words with them."""

import random
import re
from collections.abc import Iterator, Sequence

import grammar

RUN = 8
HELD_OUT = 40


def runs(items: Sequence[object]) -> set[tuple[object, ...]]:
    """Every run of eight neighbours."""
    return {tuple(items[i : i + RUN]) for i in range(len(items) - RUN + 1)}


def words_of(story: str) -> list[str]:
    """Words and marks, letter case ignored."""
    return re.findall(r"\w+|[^\w\s]", story.lower())


def held_out(seed: int) -> list[str]:
    rng = random.Random(f"held out {seed}")
    return [grammar.story(rng) for _ in range(HELD_OUT)]


def stories(seed: int, part: int) -> Iterator[str]:
    """An endless stream of candidates; every part is another one."""
    rng = random.Random(f"training {seed} {part}")
    while True:
        yield grammar.story(rng)


def training(seed: int, count: int, part: int = 0) -> list[str]:
    """`count` stories without any run of eight words of a held-out story."""
    forbidden: set[tuple[object, ...]] = set().union(*(runs(words_of(s)) for s in held_out(seed)))
    kept: list[str] = []
    for story in stories(seed, part):
        if forbidden.isdisjoint(runs(words_of(story))):
            kept.append(story)
            if len(kept) == count:
                return kept
    raise AssertionError
