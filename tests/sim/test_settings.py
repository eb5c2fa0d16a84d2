"""The C simulator's configuration is the SoC's description: every number reaches it under its own name."""

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

from tests.golden_texts import check_golden
from tvm_pulp import soc
from tvm_pulp.sim.iss.library import library
from tvm_pulp.sim.iss.settings import NOT_SIMULATED, SECTIONS, fields_header, simulator_settings
from tvm_pulp.soc.description import setting_names

SIMULATOR = Path(__file__).resolve().parents[2] / "c_runtime" / "iss"
SIRACUSA = soc.load("siracusa")
# Which machine it is (`bare` and `core_is_snitch` tell the simulator), and what has one value only.
OTHERWISE = {"cluster.core"} | {name.replace("_", ".", 2) for name in NOT_SIMULATED}


def create(settings: dict[str, int]) -> str:
    """The sentence with which the simulator refuses settings; none where it takes them."""
    names = (ctypes.c_char_p * len(settings))(*(name.encode() for name in settings))
    error = ctypes.create_string_buffer(300)
    values = (ctypes.c_int64 * len(settings))(*settings.values())
    handle = library().iss_create(names, values, len(settings), error, len(error))
    library().iss_destroy(handle)
    return "" if handle else error.value.decode()


def test_the_fields_in_c_are_those_of_the_schema() -> None:
    """TVM_PULP_UPDATE_GOLDEN=1 writes the header anew."""
    check_golden(SIMULATOR / "config_fields.h", fields_header())


@pytest.mark.parametrize(
    "name", [n for n in setting_names(SIRACUSA.model_dump()) if n.startswith((*SECTIONS, "clock"))]
)
def test_every_value_reaches_the_simulator(name: str) -> None:
    """Another value of a key is another number for the simulator; one that it ignored would have no effect."""
    value: Any = SIRACUSA
    for part in name.split("."):
        value = getattr(value, part)
    if name in OTHERWISE or name in ("dma.counters", "timing.ordering_slack"):  # at its limit, refused beside conflicts
        return
    other = (not value) if isinstance(value, bool) else value - 1 if name == "cluster.cores" else value + 1
    changed = simulator_settings(SIRACUSA.with_settings({name: other}), trace=False)
    differing = {key for key, old in simulator_settings(SIRACUSA, trace=False).items() if changed[key] != old}
    assert differing
    if isinstance(value, int) and not name.startswith("clock"):
        assert differing == {name.replace(".", "_")}


def test_the_simulator_wants_every_number() -> None:
    """None has a value in C: without one of them there is no machine."""
    settings = simulator_settings(SIRACUSA, trace=False)
    assert create(settings) == ""
    for name in settings:
        rest = {key: value for key, value in settings.items() if key != name}
        assert create(rest) == f"setting '{name}' is missing"
    assert create(settings | {"latency": 1}) == "unknown setting 'latency'"
    assert create(settings | {"timing_mul": 0}) == "timing_mul is 0, choose 1 to 4294967295"


def test_the_simulator_reads_every_number() -> None:
    """A field that no line of C reads would be accepted without effect."""
    text = "".join(path.read_text() for path in SIMULATOR.glob("*.[ch]") if not path.stem.startswith("config"))
    read = set(re.findall(r'config(?:->|\.)(\w+)\b(?!")', text))
    assert set(simulator_settings(SIRACUSA, trace=False)) == read
