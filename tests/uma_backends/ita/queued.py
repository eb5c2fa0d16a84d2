"""Lists of jobs as a driver gives them to the engine: the queue is full before a job ends."""

from collections.abc import Sequence
from itertools import pairwise

from tests.uma_backends.flat_machine import STATUS, Machine
from uma_backends.ita.timing import QUEUE_GAP, TRIGGER_CYCLES

MOST_CONTEXTS = 4


def run_queued(machine: Machine, jobs: Sequence[Sequence[int]]) -> int:
    """Run all jobs and return the cycles from the first trigger to the last event."""
    start, before = machine.cycle, len(machine.events)
    waiting = list(jobs)
    while len(machine.events) < before + len(jobs):
        while waiting and machine.read(STATUS).bit_count() < MOST_CONTEXTS:
            machine.submit(waiting.pop(0))
        machine.advance(machine.next_event())
    return machine.cycle - start


def busy_cycles(machine: Machine, jobs: Sequence[Sequence[int]]) -> list[int]:
    """Run all jobs and return the cycles of each."""
    start, before = machine.cycle + TRIGGER_CYCLES - QUEUE_GAP, len(machine.events)
    run_queued(machine, jobs)
    return [later - earlier - QUEUE_GAP for earlier, later in pairwise([start, *machine.events[before:]])]
