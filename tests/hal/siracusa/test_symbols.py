"""A program prints its symbols and what they hold, on request."""

import re
import struct

import numpy as np

from tests.hal.siracusa.program import Program, Tensor
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine

TEXT = """
TVM_PULP_IN_L2 uint8_t x[40];
TVM_PULP_IN_L2 uint8_t y[40];
const struct tvm_pulp_symbol tvm_pulp_symbols[] = {{"x", x, sizeof x}, {"y", y, sizeof y}, {0, 0, 0}};
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() == 0u)
    for (int i = 0; i < 40; i++) y[i] = (uint8_t)(x[i] + 1u);
}
"""


def run(request: int) -> tuple[str, Machine]:
    """Load the executable as anyone could: the ELF, a word, the inputs at the address of the table."""
    tensors = {"inputs": (Tensor("x", (40,), "uint8"),), "outputs": (Tensor("y", (40,), "uint8"),)}
    machine = Machine(soc.load("siracusa"))
    machine.load_elf(Program(TEXT, **tensors).device().elf)
    machine.write(machine.symbol("tvm_pulp_request"), struct.pack("<I", request))
    machine.write(machine.symbol("x"), bytes(range(40)))
    result = machine.run(max_cycles=1_000_000)
    assert result.exit_code == 0
    return result.stdout, machine


def test_nothing_unless_asked_for() -> None:
    output, _ = run(0)
    assert output == ""


def test_table() -> None:
    output, machine = run(1)
    rows = re.findall(r"^symbol (\w+) ([0-9a-f]{8}) ([0-9a-f]{8})$", output, re.MULTILINE)
    table = {name: (int(address, 16), int(size, 16)) for name, address, size in rows}
    assert output.endswith("end\n") and len(rows) == len(output.splitlines()) - 1
    for name, (address, _) in table.items():
        assert machine.symbol(name) == address
    assert table["x"][1] == table["y"][1] == 40
    assert table["tvm_pulp_cycles"][1] == 64


def test_contents() -> None:
    output, machine = run(2)
    read = {name: bytearray() for name in ("y", "tvm_pulp_cycles")}
    for name, offset, data in re.findall(r"^data (\w+) ([0-9a-f]{8}) ([0-9a-f]+)$", output, re.MULTILINE):
        if name in read:
            assert int(offset, 16) == len(read[name])
            read[name] += bytes.fromhex(data)
    assert read["y"] == bytes(range(1, 41))
    assert output.endswith("end\n")
    cycles = np.frombuffer(read["tvm_pulp_cycles"], np.uint32)
    assert cycles[1] == struct.unpack("<2I", machine.read(machine.symbol("tvm_pulp_cycles"), 8))[1] > 0
