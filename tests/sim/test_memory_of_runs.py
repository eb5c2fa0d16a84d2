"""Runs give back what they took, at once: machines of the simulator, libraries of this machine, memory."""

import gc
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.sim.gdb_client import DebuggedRun
from tests.sim.process_size import machines_made, mapped_libraries, resident_megabytes
from tvm_pulp import soc
from tvm_pulp.app import App
from tvm_pulp.errors import GuestFault
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.attach import RecordStream
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.open_library import OpenLibrary

IMAGE = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)
TARGETS = {"siracusa": "uma-neureka", "host": "c", "cortex-m4": "c", "aarch64": "c"}
EMULATORS = {"cortex-m4": "unicorn", "aarch64": "qemu-system-aarch64"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], App]:
    """The archive of a small network for a SoC; every call gives another object."""
    path = tmp_path_factory.mktemp("small") / "classifier.onnx"
    onnx.save(classifier(), path)
    made: dict[str, dict[str, bytes]] = {}

    def archive(name: str) -> App:
        if name not in made:
            app = tvm_pulp.compile(path, target=TARGETS[name], soc=name, input_types={"image": "uint8"})
            made[name] = app.files
        return App(made[name])

    return archive


def test_machines_end_with_their_runs(
    small: Callable[[str], App], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = small("siracusa")
    watched = Instruments(trace=tmp_path / "t.json", profile=tmp_path / "p.json", log_calls=True, check_reads=True)
    with machines_made(monkeypatch) as alive:
        for wanted in (None, watched, None, watched):
            app.run([IMAGE], instruments=wanted)
            assert len(alive) == 1, "the last one stays, to be asked"
        app.close()
        assert not alive
        app.run([IMAGE])
        assert len(alive) == 1
        del app
        assert not alive
        with small("siracusa") as other:
            other.run([IMAGE])
        assert not alive
    assert "tvmgen_default" in capsys.readouterr().err


def test_machines_end_with_runs_that_fail(small: Callable[[str], App], monkeypatch: pytest.MonkeyPatch) -> None:
    app = small("siracusa")
    device = IssDevice(app.files, app.metadata)

    def fail(_records: Any) -> None:
        raise ArithmeticError("a consumer of the stream")

    with machines_made(monkeypatch) as alive:
        with pytest.raises(GuestFault, match="cycle"):
            device.run([IMAGE], max_cycles=100)
        machine = device.load([IMAGE], observe=True)
        stream = RecordStream(machine, [fail])
        device.execute(machine)
        with pytest.raises(ArithmeticError):
            stream.check()
        del machine, stream
        assert not alive


def test_machines_end_with_their_debugger(small: Callable[[str], App], monkeypatch: pytest.MonkeyPatch) -> None:
    app = small("siracusa")
    device = IssDevice(app.files, app.metadata)
    with machines_made(monkeypatch) as alive:
        machine = device.load([IMAGE], observe=True)
        run = DebuggedRun(machine, machine.run)
        assert run.client.ask("?").startswith("T")
        assert run.client.ask("D") == "OK"
        run.result()
        del run, machine
        assert not alive


def test_a_closed_machine_says_so() -> None:
    with Machine(soc.load("rv32-mcu")) as machine:
        base = machine.soc.memory.l2.base
        machine.write(base, b"abcd")
        assert machine.read(base, 4) == b"abcd"
    machine.close()
    for ask in (lambda: machine.read(base, 4), lambda: machine.core(0).x[1], lambda: machine.run(), machine.output):
        with pytest.raises(ValueError, match="the machine is closed"):
            ask()


def test_libraries_of_this_machine_are_closed(small: Callable[[str], App]) -> None:
    gc.collect()
    others = mapped_libraries("network.so")  # of programs that other tests keep
    apps = [small("host") for _ in range(4)]
    for app in apps:
        app.run([IMAGE])
    assert mapped_libraries("network.so") >= others + 4
    kept = apps[0]._runners["host", None, ()]._library
    for app in apps[:2]:
        app.close()
    with pytest.raises(ValueError, match="the library is closed"):
        kept.function("tvmgen_default_run")
    assert apps[0].run([IMAGE]).outputs, "a run builds it again"
    del app
    apps.clear()
    assert mapped_libraries("network.so") <= others


def test_a_library_is_closed_where_nobody_refers_to_it(small: Callable[[str], App], tmp_path: Path) -> None:
    from tvm_pulp.sim.host import host_library

    library = OpenLibrary(host_library(small("host").files, tmp_path))
    assert library.address("tvmgen_default_run")
    assert library.function("tvmgen_default_run")
    name = library._library._name if library._library else ""
    assert mapped_libraries(name)
    del library
    assert not mapped_libraries(name)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [False, True], ids=["one-app", "an-app-each"])
@pytest.mark.parametrize("name", TARGETS)
def test_a_thousand_runs(name: str, fresh: bool, small: Callable[[str], App]) -> None:
    """Memory is that of the first ten."""
    if emulator := EMULATORS.get(name):
        found = shutil.which(emulator) if emulator.startswith("qemu") else pytest.importorskip(emulator)
        if not found:
            pytest.skip(f"{emulator} is not installed")
    # Emulators of CPUs start anew for every run, which takes a second.
    app, runs = small(name), 1000 if name in ("siracusa", "host") else 100
    before = 0.0
    for number in range(runs):
        (small(name) if fresh else app).run([IMAGE])
        if number == 9:
            before = resident_megabytes()
    assert resident_megabytes() - before < 20
