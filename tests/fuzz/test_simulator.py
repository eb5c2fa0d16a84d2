"""Hostile guests, executables and archives: no report, no hang, no growth; always a sentence. The slow set runs them
under address and undefined-behaviour checks, whose build takes longest."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.campaign import Campaign, Outcome
from tests.fuzz.conftest import MODELS, OPTIONS, environment_for
from tests.fuzz.formats import FORMATS
from tests.fuzz.mutants import Mutant

# Guests that the driver makes; mutants under the checks; those after which memory must not grow any more.
GUESTS, MANY, WARM_UP = 15000, {"elf": 5000, "archive": 1000}, 64
GROWTH_MIB = {"elf": 64, "archive": 128}


def _drive(built: dict[str, Path], first: int, count: int) -> dict[str, int]:
    command = [str(built["driver"]), str(first), str(count), *(str(built[name]) for name in MODELS)]
    environment = os.environ | {"ASAN_OPTIONS": OPTIONS}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300 + count // 2, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    numbers = [part.split() for part in done.stdout.strip().split(", ")]
    return {kind: int(number) for number, kind in numbers}


@pytest.mark.slow
def test_many_guests(sanitized: dict[str, Path]) -> None:
    outcomes = _drive(sanitized, 0, GUESTS)
    assert all(outcomes[kind] > 0 for kind in ("ended", "faulted", "refused")), outcomes


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("elf", {0, 126, 127}), ("archive", {0, 2})])
def test_many_files(name: str, expected: set[int], sanitized: dict[str, Path]) -> None:
    with Campaign(24, environment_for(sanitized["library"])) as campaign:
        warm, outcome = Outcome(), Outcome()
        for number in range(MANY[name]):
            campaign.try_one(Mutant.of(FORMATS[name], 24, number), warm if number < WARM_UP else outcome)
    assert not [*warm.findings, *outcome.findings], warm.report() + outcome.report()
    assert expected <= set(outcome.statuses), outcome.report()
    assert outcome.peak_mib - warm.peak_mib < GROWTH_MIB[name], outcome.report()
