"""Jobs of two accelerators that run together and touch the same bytes are a race; jobs of one never are."""

from pathlib import Path

import pytest

from tests.sim.guest import assemble
from tests.sim.test_platform_peripheral import build_model
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunResult

# Both engines are the counter of the platform's tests: a job of n cycles writes L1 + 0x100 and reads L1 + 0x200.
FIRST, SECOND = 0x10201C00, 0x10201000
WAIT = "  p_elw t3, 0x3c, s0\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("model"), "TVM_PULP_PERIPHERAL_ABI")


def run(model: Path, body: str) -> RunResult:
    engines = {
        "one": {"base": FIRST, "event_line": 13, "parameters": {}},
        "two": {"base": SECOND, "event_line": 14, "parameters": {}},
    }
    content = soc.load("siracusa").model_dump() | {"engines": engines}
    machine = Machine(soc.Soc.model_validate(content), models={"one": model, "two": model})
    text = f"""
.text
main:
  li a1, {FIRST}
  li a2, {SECOND}
  li t1, 0x6000
  sw t1, 0(s0)
  li t2, 500
  li t4, 900
{body}
  ret
"""
    machine.load_elf(assemble(text))
    return machine.run(max_cycles=100_000)


def test_jobs_that_run_together_on_the_same_bytes_are_a_race(model: Path) -> None:
    result = run(model, f"  sw t2, 0(a1)\n  sw t4, 0(a2)\n{WAIT}{WAIT}")
    assert result.races
    assert "a job of counter writes L1 offset 0x100 while a job of counter writes it" in str(result.first_race)


def test_jobs_one_after_the_other_are_none(model: Path) -> None:
    assert run(model, f"  sw t2, 0(a1)\n{WAIT}  sw t4, 0(a2)\n{WAIT}").races == 0
    assert run(model, f"  sw t2, 0(a1)\n{WAIT}  sw t4, 0(a1)\n{WAIT}").races == 0


def test_both_only_read_is_none(model: Path) -> None:
    """The one writes 0x100; a race is reported once for it, not for the 0x200 that both read."""
    assert run(model, f"  sw t2, 0(a1)\n  sw t4, 0(a2)\n{WAIT}{WAIT}").races == 1
