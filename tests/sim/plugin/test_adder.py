"""One small model in three simulators, driven by one program: registers, memories, time, events, errors.

What `tests/c_runtime/plugins` asks of the adapters with stand-ins, asked of the simulators themselves where they are.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.c_runtime.plugins.built import HERE, model
from tests.hal.siracusa.program import Program, Tensor
from tvm_pulp import soc as socs
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.plugin import build, find_installation, write
from tvm_pulp.sim.runner import runner_class
from tvm_pulp.soc.description import Soc

BYTES, CYCLES_PER_BYTE, BIAS = 64, 3, 5
# SoC, registers, event line, and further parameters of the model: without weight memory all operands lie in L1.
PLACES = {
    "siracusa-gvsoc": (0x10201C00, 13, {}),
    "siracusa-gvsoc-banks": (0x10201C00, 13, {}),
    "rv32-mcu": (0x70010000, 0, {"flat": 1}),
}
DEVICES = [("iss", "siracusa-gvsoc"), ("iss", "rv32-mcu"), ("gvsoc", "siracusa-gvsoc")]
DEVICES += [("gvsoc", "siracusa-gvsoc-banks"), ("etiss", "rv32-mcu")]

# x and y lie at odd places; what surrounds y must not change.
PROGRAM = """
#define REGISTER(offset) (*(volatile uint32_t *)(BASEu + (offset)))
enum { START = 0x00, STATUS = 0x04, X = 0x08, W = 0x0c, Y = 0x10, LENGTH = 0x14 };
TVM_PULP_IN_L2 uint8_t x[BYTES];
PLACE_OF_W uint8_t w[BYTES];
TVM_PULP_IN_L2 uint8_t y[BYTES + 16];
TVM_PULP_IN_L2 uint32_t seen[8];
const struct tvm_pulp_symbol tvm_pulp_symbols[] = {
    {"x", x, sizeof x}, {"y", y, sizeof y}, {"seen", seen, sizeof seen}, {0, 0, 0}};

void tvm_pulp_network(void) {
  if (!tvm_pulp_is_agent()) return;
  uint8_t *const from = tvm_pulp_l1_arena + 3, *const to = tvm_pulp_l1_arena + 1026;
  for (uint32_t i = 0; i < BYTES; i++) from[i] = x[i];
  for (uint32_t i = 0; i < BYTES + 16; i++) to[(int32_t)i - 8] = 0x11;
  REGISTER(X) = (uint32_t)(uintptr_t)from;
#if FLAT
  for (uint32_t i = 0; i < BYTES; i++) tvm_pulp_l1_arena[2051 + i] = w[i];
  REGISTER(W) = (uint32_t)(uintptr_t)(tvm_pulp_l1_arena + 2051);
#else
  REGISTER(W) = TVM_PULP_WEIGHT_OFFSET(w);
#endif
  REGISTER(Y) = (uint32_t)(uintptr_t)to;
  REGISTER(LENGTH) = LENGTH_OF_JOB;
  seen[0] = REGISTER(X) - (uint32_t)(uintptr_t)from;
  seen[1] = REGISTER(LENGTH);
  const uint32_t begin = tvm_pulp_cycle();
  REGISTER(START) = 1;
  seen[2] = REGISTER(STATUS);
  seen[3] = to[0];
  WAIT
  seen[4] = tvm_pulp_cycle() - begin;
  seen[5] = REGISTER(STATUS);
  for (uint32_t i = 0; i < BYTES + 16; i++) y[i] = to[(int32_t)i - 8];
}
"""


@dataclass(frozen=True)
class Case:
    """The program for a SoC with the engine."""

    soc: Soc
    description: Path
    program: Program

    def metadata(self) -> dict[str, Any]:
        facts = self.program.metadata()["tvm_pulp"]
        return {"tvm_pulp": facts | {"soc_description": self.soc.model_dump(mode="json"), "layers": []}}


def make_case(folder: Path, preset: str, length: int) -> Case:
    base, line, more = PLACES[preset]
    parameters = {"cycles_per_byte": CYCLES_PER_BYTE, "bias": BIAS, **more}
    engine = f"{{base: 0x{base:x}, event_line: {line}, queue: 1, parameters: {parameters}}}"
    folder.mkdir(parents=True, exist_ok=True)
    description = folder / "soc.yaml"
    description.write_text(f"based_on: {preset}\nname: with-adder\ndescription: a test\nengines:\n  adder: {engine}\n")
    soc = socs.load(str(description))
    alone = soc.cluster.kind.bare
    words = {
        "LENGTH_OF_JOB": str(length),
        "BASE": hex(base),
        "BYTES": str(BYTES),
        "FLAT": str(int(alone)),
        "PLACE_OF_W": "TVM_PULP_IN_L2" if alone else "TVM_PULP_IN_WEIGHT_MRAM",
        "WAIT": "while (REGISTER(STATUS) != 0) {}" if alone else f"tvm_pulp_event_wait({line}u);",
    }
    text = PROGRAM
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    given = (Tensor("x", (BYTES,), "uint8"), Tensor("w", (BYTES,), "uint8"))
    made = (Tensor("y", (BYTES + 16,), "uint8"), Tensor("seen", (8,), "uint32"))
    return Case(soc, description, Program(text, given, made, cores=soc.cluster.cores, soc=preset))


@cache
def built_plugin(device: str, folder: Path, description: Path) -> Path:
    """Once for all tests of a simulator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tvm_pulp.sim.plugin.sources.model_sources", lambda _: [HERE / "model" / "adder.c"])
        write(device, folder, str(description), ["adder"])
    build(device, folder, find_installation(device, {}))
    return folder


def run(device: str, preset: str, length: int, inputs: list[np.ndarray], folder: Path, **more: str) -> list[np.ndarray]:
    case = make_case(folder / preset, preset, length)
    if device == "iss":
        here = IssDevice(case.program.files(), case.metadata(), models={"adder": model()})
        machine = here.load(inputs)
        here.execute(machine, 1, max_cycles=100_000)
        return here.read_back(machine)
    if f"{device.upper()}_HOME" not in os.environ:
        pytest.skip(f"{device.upper()}_HOME names no installation")
    runner = runner_class(device)()
    settings = {"plugin": str(built_plugin(device, folder / f"plugin_{preset}", case.description)), **more}
    if preset.endswith("banks"):
        settings["target"] = "siracusa_tvm_pulp_banks"
    runner.settings = settings
    runner.build(case.program.files(), case.metadata())
    runner.load(inputs)
    runner.run(1)
    return runner.read_back()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "adder"


def random_inputs() -> list[np.ndarray]:
    return list(np.random.default_rng(5).integers(0, 256, (2, BYTES), np.uint8))


@pytest.mark.parametrize("length", [21, 26, BYTES])
@pytest.mark.parametrize(("device", "preset"), DEVICES)
def test_a_job(device: str, preset: str, length: int, folder: Path) -> None:
    """Registers keep what is written, results come when the job ends and not before, and nothing else changes."""
    x, w = random_inputs()
    y, seen = run(device, preset, length, [x, w], folder)
    expected = np.full(BYTES + 16, 0x11, np.uint8)
    expected[8 : 8 + length] = x[:length] + w[:length] + np.uint8(BIAS)
    np.testing.assert_array_equal(y, expected)
    assert seen[:4].tolist() == [0, length, 1, 0x11] and seen[5] == 0
    took = 10 + CYCLES_PER_BYTE * length
    # The program looks at the status and a result first, and wakes up or polls afterwards; models may wait for banks.
    assert took <= seen[4] <= max(took, 40) + 60 + (length if preset.endswith("banks") else 0)


def test_a_blocking_job_stops_the_core_of_etiss(folder: Path) -> None:
    """Status and result are there with the next instruction."""
    x, w = random_inputs()
    y, seen = run("etiss", "rv32-mcu", BYTES, [x, w], folder, blocking="true")
    np.testing.assert_array_equal(y[8:-8], x + w + np.uint8(BIAS))
    assert seen[2] == 0 and seen[3] == y[8]
    took = 10 + CYCLES_PER_BYTE * BYTES
    assert took <= seen[4] <= took + 60


@pytest.mark.parametrize(("device", "preset"), DEVICES)
def test_a_fault_of_the_model_ends_the_run_with_its_sentence(device: str, preset: str, folder: Path) -> None:
    with pytest.raises((UserError, GuestFault), match="adder: an operand lies outside") as refused:
        run(device, preset, 0x7FFFFFFF, random_inputs(), folder)
    assert "\n" not in str(refused.value)
