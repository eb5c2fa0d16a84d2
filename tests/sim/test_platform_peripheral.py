"""Accelerators behind peripheral.h: register access, jobs, wake-up, races, faults, refusals."""

import struct
from pathlib import Path

import pytest

from tests.sim.guest import RESULTS, assemble
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss import Machine, RunResult
from tvm_pulp.sim.iss.library import PERIPHERAL, build_shared_object, package_folder

# Register 0: write starts a job of that many cycles that increments the word at L1 + 0x100; 4: jobs done; 8: faults.
MODEL = r"""
#include <stdlib.h>
#include <string.h>
#include "tvm_pulp/peripheral.h"
struct self { struct tvm_pulp_system system; uint64_t end; uint32_t length, jobs; uint64_t busy; };
static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *p, size_t count, char *error,
                    size_t bytes) {
  struct self *self;
  for (size_t i = 0; i < count; i++)
    if (strcmp(p[i].name, "speed")) { strncpy(error, "no such parameter", bytes - 1); return NULL; }
  self = calloc(1, sizeof *self);
  self->system = *system;
  self->end = TVM_PULP_NEVER;
  return self;
}
static void destroy(void *self) { free(self); }
static void reset(void *self) { ((struct self *)self)->jobs = 0; }
static uint32_t read(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  (void)cycle;
  return offset == 4 ? ((struct self *)self)->jobs : offset == 12 ? core : 0;
}
static void write(void *opaque, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct self *self = opaque;
  (void)core;
  if (offset == 8) { self->system.fault(self->system.context, "it was asked to fail"); return; }
  self->length = value;
  self->end = cycle + value;
  self->system.claim(self->system.context, TVM_PULP_PORT_L1, 0x10000100, 4, 1, self->end);
  self->system.claim(self->system.context, TVM_PULP_PORT_L1, 0x10000200, 4, 0, self->end);
}
static uint64_t next_event(void *self) { return ((struct self *)self)->end; }
static void advance(void *opaque, uint64_t cycle) {
  struct self *self = opaque;
  uint8_t *word;
  if (self->end > cycle) return;
  word = self->system.memory(self->system.context, TVM_PULP_PORT_L1, 0x10000100, 4);
  word[0]++;
  self->jobs++;
  self->busy += self->length;
  self->system.raise(self->system.context, self->end);
  self->end = TVM_PULP_NEVER;
}
static void statistics(void *opaque, struct tvm_pulp_peripheral_statistics *out) {
  struct self *self = opaque;
  memset(out, 0, sizeof *out);
  out->jobs = self->jobs;
  out->busy_cycles = self->busy;
}
static const struct tvm_pulp_peripheral table = {ABI, "counter", 1024, create, destroy, reset, read, write, next_event,
                                                 advance, statistics};
const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) { return &table; }
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("model"), "TVM_PULP_PERIPHERAL_ABI")


def build_model(folder: Path, abi: str) -> Path:
    runtime = package_folder("c_runtime")
    assert runtime is not None
    (folder / "counter.c").write_text(MODEL.replace("ABI,", f"{abi},"))
    return build_shared_object("model-test-counter", [folder / "counter.c"], [runtime / "include"])


def machine_with(model: Path, body: str, timeline: bool = False, base: int = 0x10201C00, **parameters: int) -> Machine:
    engine = {"base": base, "event_line": 13, "parameters": parameters}
    content = soc.load("siracusa").model_dump() | {"engines": {"counter": engine}}
    machine = Machine(
        soc.Soc.model_validate(content).with_settings({"icache.ideal": True}),
        models={"counter": model},
        timeline=timeline,
    )
    text = f"""
.text
main:
  li a1, {base}
  li a2, L1
  li a3, RESULTS
  li t1, 0x2000
  sw t1, 0(s0)
  li t2, 500
{body}
  ret
"""
    machine.load_elf(assemble(text))
    return machine


WAIT = "  p_elw t3, 0x3c, s0\n"


def run_body(model: Path, body: str) -> tuple[RunResult, tuple[int, ...]]:
    machine = machine_with(model, body)
    result = machine.run(max_cycles=100_000)
    return result, struct.unpack("<8I", machine.read(RESULTS, 32))


def test_job_wakes_the_core_six_cycles_after_its_end(model: Path) -> None:
    body = f"  csrr s10, mcycle\n  sw t2, 0(a1)\n{WAIT}  csrr s11, mcycle\n  sub t4, s11, s10\n  sw t4, 0(a3)\n"
    body += "  lw t4, 4(a1)\n  sw t4, 4(a3)\n  lw t4, 0x100(a2)\n  sw t4, 8(a3)\n"
    result, words = run_body(model, body)
    assert words[:3] == (506, 1, 1)
    (counter,) = result.peripherals
    assert (counter.name, counter.jobs, counter.busy_cycles) == ("counter", 1, 500)
    assert result.races == 0 and result.first_race is None


@pytest.mark.parametrize(
    ("access", "races"),
    [
        ("lw t4, 0x100(a2)", 1),  # reads what the job writes
        ("sw t4, 0x100(a2)", 1),
        ("lw t4, 0x200(a2)", 0),  # both read
        ("sb t4, 0x203(a2)", 1),  # writes what the job reads
        ("sb t4, 0x204(a2)", 0),  # the next word
        ("lw t4, 0x0fe(a2)", 1),  # misaligned, half inside
    ],
)
def test_access_during_a_job_is_a_race(model: Path, access: str, races: int) -> None:
    result, _ = run_body(model, f"  sw t2, 0(a1)\n  {access}\n{WAIT}  {access}\n")
    assert result.races == races
    assert (result.first_race is not None) == bool(races)
    if races:
        assert "core 0" in str(result.first_race) and "counter" in str(result.first_race)


def test_dma_during_a_job_is_a_race(model: Path) -> None:
    dma = """
  sw t2, 0(a1)
  li t0, DMA
  lw t1, 0(t0)
  li t3, 0x160010
  sw t3, 0(t0)
  li t3, L1 + 0x1f8
  sw t3, 0(t0)
  li t3, L2
  sw t3, 0(t0)
"""
    result, _ = run_body(model, dma + WAIT)
    assert result.races == 1 and "DMA" in str(result.first_race)


def test_fault_of_the_model_names_the_core(model: Path) -> None:
    with pytest.raises(GuestFault, match="counter: it was asked to fail, core 0 at pc"):
        run_body(model, "  sw t2, 8(a1)\n")


def test_registers_take_words_only(model: Path) -> None:
    with pytest.raises(GuestFault, match="aligned 32-bit"):
        run_body(model, "  sh t2, 0(a1)\n")


def test_an_engine_is_seen_before_what_else_is_at_its_place(model: Path) -> None:
    """That is the cluster's timer, to which 500 would be bits of its configuration."""
    machine = machine_with(model, f"  sw t2, 0(a1)\n{WAIT}  lw t4, 4(a1)\n  sw t4, 0(a3)\n", base=0x10200400)
    assert machine.run(max_cycles=100_000).peripherals[0].jobs == 1
    assert machine.read(RESULTS, 4) == b"\1\0\0\0"


def test_jobs_appear_in_the_trace(model: Path) -> None:
    machine = machine_with(model, f"  sw t2, 0(a1)\n{WAIT}", timeline=True)
    machine.run()
    spans = machine.timeline()
    assert spans is not None
    jobs = spans[spans["kind"] == PERIPHERAL]
    assert (jobs["end"] - jobs["start"]).tolist() == [500]


def test_refused_parameters_and_other_versions(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"engine 'counter'.*no such parameter"):
        machine_with(model, "", colour=3)
    machine_with(model, "", speed=3)
    with pytest.raises(UserError, match=r"another version of tvm_pulp/peripheral\.h"):
        machine_with(build_model(tmp_path, "99"), "")
    with pytest.raises(UserError, match="there is no file"):
        machine_with(tmp_path / "absent.so", "")


def test_engine_without_a_model_is_named() -> None:
    content = soc.load("siracusa").model_dump() | {"engines": {"unknown": {"base": 0x10201C00, "event_line": 13}}}
    assert Machine(soc.Soc.model_validate(content)).missing_models == ("unknown",)
