"""Reads of bytes that nobody wrote are told, by whoever reads; networks have none."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.sim.guest import assemble
from tvm_pulp import soc
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.attach import Attached
from tvm_pulp.sim.iss.device import IssDevice

DMA_OUT = "li t0, DMA\nlw t2, 0(t0)\n" + "".join(
    f"li t1, {word}\nsw t1, 0(t0)\n" for word in (0x140010, 0x300, 0x1C100000)
)
WAIT = "\n1: lw t1, 4(t0)\nslli t1, t1, 16\nbnez t1, 1b"

# name -> (code, what the sentences contain; none for no sentence)
CASES = {
    "a word of L1": ("li t0, L1 + 0x100\nlw t1, 0(t0)", ["core 0 reads 4 byte(s) at 0x10000100", "at main+0x"]),
    "by its alias": ("li t0, 0x100\nlb t1, 0(t0)", ["core 0 reads 1 byte(s) at 0x10000100"]),
    "a word of L2": ("li t0, 0x1c100000\nlw t1, 0(t0)", ["core 0 reads 4 byte(s) at 0x1c100000"]),
    "the DMA": (DMA_OUT + WAIT, ["the DMA reads 4 byte(s) at 0x10000300"]),
    "written before": ("li t0, L1 + 0x100\nsw t1, 0(t0)\nlw t1, 0(t0)\nlb t1, 3(t0)", []),
    "past the end": ("li t0, L1 + 0x100\nsb t1, 0(t0)\nlw t1, 0(t0)", []),
    "past the end, misaligned": ("li t0, L1 + 0x102\nsh t1, 0(t0)\nlw t1, 0(t0)", []),
    "once only": ("li t0, L1 + 0x100\nlw t1, 0(t0)\nlw t1, 0(t0)", ["core 0 reads 4 byte(s) at 0x10000100"]),
}


@pytest.mark.parametrize("name", CASES)
def test_who_reads_what(name: str) -> None:
    code, expected = CASES[name]
    machine = Machine(soc.load("siracusa"), check_reads=True)
    machine.load_elf(assemble(f".text\nmain:\n{code}\n  ret\n"))
    machine.undefine(0x1C100000, 256)
    attached = Attached(machine, Instruments(check_reads=True), lambda _: None, "program")
    attached.finish(machine.run(100_000))
    found = attached.unwritten_reads
    assert bool(found) == bool(expected), found
    assert all(part in found[0] for part in expected), found
    assert len(found) <= (4 if name == "the DMA" else 1), found


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "target"), [("siracusa", "uma-neureka"), ("snitch-ita", "c"), ("rv32-mcu", "c")])
def test_a_network_whose_input_is_not_there(tmp_path: Path, name: str, target: str) -> None:
    """Layer and tensor are named: the input is never written, the rest of the network is as it should be."""
    onnx.save(classifier(), tmp_path / "classifier.onnx")
    app = tvm_pulp.compile(tmp_path / "classifier.onnx", target=target, soc=name, input_types={"image": "uint8"})
    device = IssDevice(app.files, app.metadata)
    image = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)
    layers = [layer["name"] for layer in app.metadata["tvm_pulp"]["layers"]]
    plain = device.run([image])
    for is_written in (True, False):
        machine = device.load([image], check_reads=True)
        tensor = app.metadata["tvm_pulp"]["inputs"][0]["symbol"]
        if not is_written:
            machine.undefine(machine.symbol(tensor), image.size)
        attached = Attached(machine, Instruments(check_reads=True), lambda _: None, "network", layers)
        result = device.execute(machine)
        attached.finish(result)
        assert not is_written or device.measure(machine, result, 0.0).cycles == plain.cycles
        assert bool(attached.unwritten_reads) != is_written, attached.unwritten_reads
    who = "core 0" if machine.soc.cluster.kind.bare else "the DMA"
    assert f"{who} reads" in attached.unwritten_reads[0] and f"in tensor '{tensor}'" in attached.unwritten_reads[0]
