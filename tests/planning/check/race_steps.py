"""Accesses of small programs, and what the verifier finds in their steps."""

from tvm_pulp.planning.check.races import Races
from tvm_pulp.planning.program.actions import Access, Step

# Descriptors lie where nobody writes.
DESCRIPTOR = Access("L1", 4096, 16, "bundle", 0)


def access(start: int) -> tuple[Access]:
    return (Access("L1", start, 16, "c", 0),)


def faults(*steps: Step) -> list[str]:
    races = Races(16)
    found = []
    for number, made in enumerate(steps):
        found += races.synchronise(str(number), made) + races.step(str(number), made)
    return found
