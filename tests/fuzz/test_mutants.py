"""Mutants of valid files: each command works or ends with one sentence; no crash, hang, hunger or wrong result.

More by hand: `scripts/fuzz`. The simulator's C under address checks is in `test_simulator.py`.
"""

import time
from collections.abc import Iterator

import pytest

from tests.fuzz.campaign import Campaign, Outcome
from tests.fuzz.formats import FORMATS, missing
from tests.fuzz.formats.format import Format
from tests.fuzz.mutants import Mutant

# Cases of the default run: what suits the time that one takes.
FEW = {"onnx": 30, "tflite": 20, "arrays": 10, "soc": 4, "report": 25, "elf": 30, "archive": 5}
SECONDS = 60


def _known(name: str) -> Format:
    lacks = missing(FORMATS[name])
    if lacks is not None:
        pytest.skip(f"needs {lacks.split('.')[0]}")
    return FORMATS[name]


@pytest.fixture(scope="module")
def campaign() -> Iterator[Campaign]:
    with Campaign(seed=8) as made:
        yield made


@pytest.mark.parametrize("name", FEW)
def test_few_mutants(name: str, campaign: Campaign) -> None:
    found = _known(name)
    outcome = Outcome()
    for number in range(FEW[name]):
        campaign.try_one(Mutant.of(found, campaign.seed, number), outcome)
    assert not outcome.findings, outcome.report()
    # Mutations that nothing survives, or that nothing notices, would prove little.
    assert outcome.statuses[0] and len(outcome.statuses) > 1, outcome.report()


@pytest.mark.slow
def test_a_minute_of_mutants(campaign: Campaign) -> None:
    """The formats share it; other mutants than above."""
    formats = [found for found in FORMATS.values() if missing(found) is None]
    outcome, numbers = Outcome(), dict.fromkeys(range(len(formats)), 1000)
    for found in formats:
        campaign.files(found)
    share = SECONDS / len(formats)
    for place, found in enumerate(formats):
        ends = time.monotonic() + share
        while time.monotonic() < ends:
            campaign.try_one(Mutant.of(found, campaign.seed, numbers[place]), outcome)
            numbers[place] += 1
    assert not outcome.findings, outcome.report()
    assert min(numbers.values()) > 1000 and outcome.compared, outcome.report()
