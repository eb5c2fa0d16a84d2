"""Texts give back what they took: the machine that made one ends with it, also where nobody waits for its end."""

import time

import pytest

from tests.language_models.small_decoders import compiled
from tests.sim.process_size import machines_made, resident_megabytes
from tvm_pulp.language_models.session import GenerationRequest


def test_machines_end_with_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = compiled("shared_heads", "uma-neureka").generator()
    with machines_made(monkeypatch) as alive:
        generator.generate(GenerationRequest([3, 1, 2], 2))
        assert not alive
        left = generator.stream(GenerationRequest([3, 1, 2], 3))
        next(left)
        left.close()
        # The run that is left goes on to its end.
        deadline = time.monotonic() + 60
        while alive and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not alive


@pytest.mark.slow
def test_a_thousand_texts() -> None:
    generator = compiled("shared_heads", "uma-neureka").generator()
    before = 0.0
    for number in range(1000):
        generator.generate(GenerationRequest([3, 1, 2], 2))
        if number == 9:
            before = resident_megabytes()
    assert resident_megabytes() - before < 20
