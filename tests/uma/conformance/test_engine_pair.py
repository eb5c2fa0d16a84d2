"""The conformance kit for two engines: the scaffold's beside NEUREKA, and one that does not keep the rules."""

import pytest

from tests.simulated.two_engines import dotter, scaffold
from tvm_pulp.errors import WrongAnswer
from tvm_pulp.sim.iss.runner import IssRunner
from tvm_pulp.uma.conformance import EnginePair
from tvm_pulp.uma.registry import backend

# Its driver says that a job is over as soon as it has begun.
HASTY = (("driver/hasty.c", "void hasty_wait(void) { engine_wait_all(); }", "void hasty_wait(void) {}"),)


def test_the_scaffolds_engine_works_beside_neureka() -> None:
    EnginePair(dotter(), backend("neureka"), chains=1).check()


@pytest.mark.slow
@pytest.mark.parametrize("weight_memory", ["none", "sram"])
def test_many_layers_at_once(weight_memory: str) -> None:
    EnginePair(dotter(), backend("neureka"), options={"neureka": {"weight_memory": weight_memory}}).check()


def test_a_driver_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IssRunner, "reads_are_checked", False)  # which finds it as well, and first
    hasty = scaffold("hasty", HASTY)
    pair = EnginePair(hasty, backend("neureka"), chains=1)
    with pytest.raises(WrongAnswer, match="output 'y0' is not the same after one inference and after two"):
        pair.check_direction(pair.first, pair.second)
