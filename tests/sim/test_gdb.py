"""The debugger's server, asked by a client of the protocol: it shows everything and changes nothing."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.sim.gdb_client import DebuggedRun
from tests.sim.guest import assemble, machine_for
from tvm_pulp import soc
from tvm_pulp.codegen.formats import PlanJson, from_json
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.elf import read_elf
from tvm_pulp.sim.iss.gdb import GdbServer
from tvm_pulp.sim.iss.gdb.tensor_symbols import l1_tensors, layer_marks, with_symbols

# Eight cores; core 3 has a loop, a float, a store and a DMA transfer to watch.
PROGRAM = """
.text
main:
  li t0, 3
  bne a0, t0, 1f
  li t0, 0x40490fdb
  fmv.w.x ft3, t0
  li t2, 0
  lp_setupi 5, 2f
  addi t2, t2, 1
  addi t2, t2, 2
2: addi t2, t2, 3
after_loop:
  li t0, L1 + 0x100
  li t1, 77
stores:
  sw t1, 0(t0)
  lw t3, 0(t0)
  li t0, DMA
  lw t4, 0(t0)
  li t1, 0x160010
transfers:
  sw t1, 0(t0)
  li t1, 0x200
  sw t1, 0(t0)
  la t1, data
  sw t1, 0(t0)
3:
  lw t1, 4(t0)
  slli t1, t1, 16
  bnez t1, 3b
1:
  p_elw t1, 0x21c, s0
ends:
  ret
.data
.align 4
data: .4byte 1, 2, 3, 4
"""


def debugged(text: str, cores: int = 8) -> tuple[Machine, DebuggedRun]:
    machine = Machine(soc.load("siracusa"), observe=True)
    machine.load_elf(assemble(text, cores))
    return machine, DebuggedRun(machine, lambda: machine.run(1_000_000))


def test_what_a_debugger_sees_and_does() -> None:
    plain = machine_for(PROGRAM, 8).run(1_000_000)
    machine, run = debugged(PROGRAM)
    gdb = run.client
    assert gdb.ask("?") == "T05thread:9;"
    assert gdb.ask("qfThreadInfo") == "m1,2,3,4,5,6,7,8,9" and gdb.ask("T9") == "OK" and gdb.ask("Ta") == "E01"
    names = [thread.attrib["name"] for thread in gdb.document("threads")]
    assert names == [*(f"core {core}" for core in range(8)), "controller"]
    assert {"pc", "ft3", "fcsr", "lpstart0", "lpcount1"} <= set(gdb.names)
    assert int(gdb.document("memory-map")[0].attrib["start"], 16) == machine.soc.memory.l1.base
    # A breakpoint inside a hardware loop of core 3, the loop's registers, a float register.
    inside = machine.symbol("after_loop") - 4
    assert gdb.ask(f"Z1,{inside:x},2") == "OK"
    assert gdb.until(3) == (3, "swbreak:;")
    seen = gdb.registers(3)
    assert seen["pc"] == inside and seen["lpcount0"] == 5 and seen["lpend0"] == inside and seen["ft3"] == 0x40490FDB
    assert gdb.go() == (3, "swbreak:;") and gdb.registers(3)["lpcount0"] == 4
    assert gdb.registers(3)["t2"] == 9
    # One instruction: over the loop's edge to its start.
    assert gdb.go("vCont;s:4;c") == (3, "05") and gdb.registers(3)["pc"] == seen["lpstart0"]
    assert gdb.ask(f"z1,{inside:x},2") == "OK"
    # A watched store stops after it, a watched load too, a register's as well.
    address = 0x10000100
    assert gdb.ask(f"Z2,{address:x},4") == "OK"
    assert gdb.go() == (3, f"watch:{address:x};") and gdb.read(address, 4) == b"\x4d\0\0\0"
    assert gdb.registers(3)["pc"] == machine.symbol("stores") + 4
    assert gdb.ask(f"z2,{address:x},4") == "OK" and gdb.ask(f"Z3,{address:x},4") == "OK"
    assert gdb.go() == (3, f"rwatch:{address:x};")
    assert gdb.ask(f"z3,{address:x},4") == "OK" and gdb.ask("Z4,10204400,4") == "OK"
    assert gdb.go() == (3, "awatch:10204400;") and gdb.go() == (3, "awatch:10204400;")
    assert gdb.registers(3)["pc"] == machine.symbol("transfers") + 4
    assert gdb.read(0x10204400, 4) == (0x160010).to_bytes(4, "little")
    assert gdb.ask("z4,10204400,4") == "OK"
    # The DMA writes: nobody's instruction.
    assert gdb.ask("Z2,10000208,8") == "OK"
    assert gdb.go()[1] == "watch:10000208;" and gdb.read(0x10000208, 4) == b"\x03\0\0\0"
    assert gdb.ask("z2,10000208,8") == "OK"
    assert gdb.ask("vCont;c") == "W00"
    result = run.result()
    assert (result.cycles, result.cores) == (plain.cycles, plain.cores)


def test_what_a_debugger_changes() -> None:
    machine, run = debugged(
        ".text\nmain:\n  li a0, 1\nhere:\n  beqz a0, 1f\n  li t0, EXIT\n  li t1, 0x80000007\n  sw t1, 0(t0)\n1: ret\n",
        1,
    )
    gdb = run.client
    assert gdb.ask(f"Z0,{machine.symbol('here'):x},2") == "OK"
    assert gdb.go() == (0, "swbreak:;")
    assert gdb.set_register(0, "a0", 0) == "OK" and gdb.set_register(0, "zero", 1) == "E01"
    assert gdb.set_register(0, "pc", 0x40000000) == "E01" and gdb.set_register(0, "pc", machine.symbol("here")) == "OK"
    assert gdb.set_register(0, "lpcount1", 9) == "OK" and gdb.registers(0)["lpcount1"] == 9
    assert gdb.ask("M1c100000,4:01020304") == "OK" and gdb.read(0x1C100000, 4) == b"\1\2\3\4"
    assert gdb.ask(b"X1c100000,4:a}\x03}\x04b") == "OK" and gdb.read(0x1C100000, 4) == b"a#$b"
    assert gdb.ask("M40000000,1:00") == "E01" and gdb.ask("m40000000,4") == "E01"
    assert gdb.ask("Z0,40000000,2") == "E01" and gdb.ask("Z2,10000000,0") == "OK"
    assert "core 0: running" in bytes.fromhex(gdb.ask("qRcmd," + b"cycles".hex())).decode()
    assert gdb.ask("vCont;c") == "W00"
    assert run.result().exit_code == 0


def test_rubbish_is_answered() -> None:
    _, run = debugged(".text\nmain:\n  ret\n", 1)
    gdb = run.client
    for packet in (
        "",
        "m",
        "mzz,4",
        "P0",
        "Pff=00",
        "Z9,0,0",
        "Z0",
        "Hgfff",
        "vCont;x:zz",
        "qXfer:features",
        "G12",
        "Q",
        "!",
    ):
        answer = gdb.ask(packet)
        assert answer in ("", "E01", "OK", "E00") or answer.startswith("T"), (packet, answer)
    gdb.send_raw(b"rubbish#zz+-$broken")
    gdb.send_raw(b"#00")
    assert gdb.receive() == ""
    assert gdb.ask("D") == "OK"
    assert run.result().exit_code == 0


def test_a_fault_stops_and_then_ends() -> None:
    _, run = debugged(".text\nmain:\n  nop\n  .4byte 0xffffffff\n", 1)
    gdb = run.client
    assert gdb.go() == (0, "0b") and gdb.ask("vCont;c") == "X0b"
    with pytest.raises(GuestFault, match="illegal instruction"):
        run.result()


def test_an_endless_loop_is_interrupted_and_killed() -> None:
    machine = Machine(soc.load("siracusa"), observe=True)
    machine.load_elf(assemble(".text\nmain:\n1: j 1b\n"))
    run = DebuggedRun(machine, lambda: machine.run())
    gdb = run.client
    gdb.send("vCont;c")
    gdb.send_raw(b"\x03")
    assert gdb.stop(gdb.receive())[1] == "02"
    gdb.send("k")
    with pytest.raises(UserError, match="killed"):
        run.result()


def test_without_its_debugger_the_program_runs_on() -> None:
    machine, run = debugged(".text\nmain:\n  li t0, 100000\n1: addi t0, t0, -1\n  bnez t0, 1b\nhere:\n  ret\n", 1)
    assert run.client.ask(f"Z0,{machine.symbol('here'):x},2") == "OK"
    run.client.close()
    assert run.result().exit_code == 0 and "runs on" in run.said[-1]


def test_a_port_that_is_taken_or_none() -> None:
    server = GdbServer(0, print)
    with pytest.raises(UserError, match=f"--gdb {server.port}: the port cannot be used"):
        GdbServer(server.port, print)
    with pytest.raises(UserError, match="--gdb 70000: give a port"):
        GdbServer(70000, print)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tvm_pulp.App:
    path = tmp_path_factory.mktemp("gdb") / "classifier.onnx"
    onnx.save(classifier(), path)
    return tvm_pulp.compile(path, target="c", soc="siracusa", input_types={"image": "uint8"})


def test_a_network_under_the_debugger(network: tvm_pulp.App, tmp_path: Path) -> None:
    """Stop in a kernel on core 3, read the input in L1 by its symbol, step, watch where the DMA puts it, go on."""
    device = IssDevice(network.files, network.metadata)
    image = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)
    expected = device.run([image])
    machine = device.load([image], observe=True)
    tensors = l1_tensors(from_json(PlanJson, network.files["plan.json"]), machine.symbol("tvm_pulp_l1_arena"))
    layers = [layer["name"] for layer in network.metadata["tvm_pulp"]["layers"]]
    tensors |= layer_marks(layers, machine.symbol("tvm_pulp_marks"))
    symbols = read_elf(with_symbols(device.elf.read_bytes(), tensors)).symbols
    assert symbols["tvm_pulp_l1_arena"] == machine.symbol("tvm_pulp_l1_arena")
    held = symbols["l1_image"]
    run = DebuggedRun(machine, lambda: device.execute(machine))
    gdb = run.client
    kernel = symbols["tvmgen_default_conv2d"]
    assert gdb.ask(f"Z2,{held:x},4") == "OK"
    assert gdb.go()[1] == f"watch:{held:x};"
    assert gdb.ask(f"z2,{held:x},4") == "OK" and gdb.ask(f"Z0,{kernel:x},2") == "OK"
    assert gdb.until(3) == (3, "swbreak:;") and gdb.registers(3)["pc"] == kernel
    assert gdb.read(held, image.size) == image.tobytes()
    assert gdb.go("vCont;s:4;c")[0] == 3 and gdb.registers(3)["pc"] in (kernel + 2, kernel + 4)
    begins = symbols[f"layer_{layers[-1]}"]
    assert gdb.ask(f"z0,{kernel:x},2") == "OK" and gdb.ask(f"Z2,{begins:x},4") == "OK"
    assert gdb.go() == (0, f"watch:{begins:x};")  # core 0 begins the last layer
    assert gdb.ask(f"z2,{begins:x},4") == "OK" and gdb.ask("vCont;c") == "W00"
    measured = device.measure(machine, run.result(), 0.0)
    assert np.array_equal(measured.outputs[0], expected.outputs[0])
    assert (measured.cycles, measured.cold_cycles) == (expected.cycles, expected.cold_cycles)
    assert measured.layer_cycles == expected.layer_cycles
