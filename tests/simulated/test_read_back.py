"""An executable as anyone could run it elsewhere: the ELF, its inputs, a word that asks for its results as text."""

import re
import struct

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp import soc
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.device import IssDevice


@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_results_come_back_as_text(target: str) -> None:
    app = tvm_pulp.compile("zoo:dscnn", target=target, soc="siracusa")
    facts = app.metadata["tvm_pulp"]
    expected = app.run()
    machine = Machine(soc.load("siracusa"))
    machine.load_elf(IssDevice(app.files, app.metadata).elf)
    machine.write(machine.symbol("tvm_pulp_request"), struct.pack("<I", 2))
    for tensor, array in zip(facts["inputs"], prepare_inputs(facts["inputs"], None), strict=True):
        machine.write(machine.symbol(tensor["symbol"]), np.ascontiguousarray(array).tobytes())
    text = machine.run().stdout
    read: dict[str, bytes] = {}
    for name, data in re.findall(r"^data (\w+) [0-9a-f]{8} ([0-9a-f]+)$", text, re.MULTILINE):
        read[name] = read.get(name, b"") + bytes.fromhex(data)
    for tensor, wanted in zip(facts["outputs"], expected.outputs.values(), strict=True):
        np.testing.assert_array_equal(np.frombuffer(read[tensor["symbol"]], tensor["dtype"]), wanted.reshape(-1))
    # Marks are not set unless someone looks at them, so that the cycles are a little below those of the report.
    assert struct.unpack_from("<I", read["tvm_pulp_cycles"], 4)[0] == pytest.approx(expected.report["cycles"], rel=0.02)
