"""Flash, RAM, time and energy at the end of a compilation, beside the program, the plan and a run."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp import soc
from tvm_pulp.app import App
from tvm_pulp.sim.iss.elf import read_elf


@pytest.fixture(scope="module")
def app() -> App:
    return tvm_pulp.compile("zoo:autoencoder", "uma-neureka", planner="greedy")


def test_flash_is_what_the_loader_copies(app: App) -> None:
    """The segments of the file hold sections and what aligns them."""
    found = app.footprint
    assert found.code is not None
    loaded = sum(len(segment.data) for segment in read_elf(app._built()).segments)
    assert loaded - 64 <= found.code + found.constants <= loaded
    # Tables of steps come on top of the network's constants.
    assert found.constants > app.metadata["memory"]["constants_bytes"]


def test_ram_is_what_the_plan_and_the_linker_take(app: App) -> None:
    found, levels, machine = app.footprint, app.metadata["memory"]["levels"], soc.load("siracusa")
    assert found.stacks == machine.cluster.cores * machine.software.stack_bytes
    assert found.ram["l1"] >= levels["l1"] + found.stacks
    assert levels["l2"] + (found.code or 0) < found.ram["l2"] < machine.memory.l2.size
    assert found.ram["weights"] == levels["wmem"] and found.ram["l3"] == 0


def test_a_report_holds_the_same(app: App) -> None:
    report = app.run().report
    assert report["footprint"] == app.footprint.record()
    assert report["footprint"]["code"] == report["code_bytes"]
    assert report["footprint"]["cycles"] == report["estimated_cycles"]
    assert report["milliseconds"] == report["cycles"] / 360e3
    # On paper and simulated.
    assert report["footprint"]["energy_uj"] == pytest.approx(report["energy_uj"], rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "target", "machine"),
    [
        ("dscnn", "uma-neureka", "siracusa"),
        ("resnet8", "uma-neureka", "siracusa"),
        ("resnet8", "c", "siracusa"),
        ("vit_block", "uma-ita", "snitch-ita"),
        ("resnet8", "uma-ne16", "gap9"),
    ],
)
def test_expected_energy(network: str, target: str, machine: str) -> None:
    if target != "c":
        pytest.importorskip(target.replace("uma-", "uma_backends."))
    report = tvm_pulp.compile(f"zoo:{network}", target, soc=machine).run().report
    assert report["footprint"]["energy_uj"] == pytest.approx(report["energy_uj"], rel=0.2)


def test_the_header_says_it(app: App) -> None:
    header = app.files["codegen/host/include/tvmgen_default.h"].decode()
    expected = app.metadata["tvm_pulp"]["expected"]
    assert "ARENA_BYTES" not in header
    text = " ".join(header.replace(" * ", "").split())
    assert f"{app.footprint.macs:,} MAC, about {expected['cycles']:,} cycles" in text and "ms at 360 MHz" in text
    assert f"#define TVMGEN_DEFAULT_L1_BYTES {app.metadata['memory']['levels']['l1']}\n" in header
    assert "#define TVMGEN_DEFAULT_STACK_BYTES 2048\n" in header


def test_the_block_at_the_end_of_a_compilation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--target=uma-neureka", "--planner", "greedy", "-o", tmp_path / "a.tar")
    shown = tvmc(capsys, "compile", "zoo:autoencoder", *options).err
    lines = App.load(tmp_path / "a.tar").footprint.lines()
    assert shown.endswith("".join(f"  {line}\n" for line in lines))
    assert [line.split("  ")[0] for line in lines] == ["flash", "L1", "L2", "weight memory", "work"]
    assert "arena" not in shown and " 0 bytes" not in shown
    quiet = tvmc(capsys, "compile", "-q", "zoo:autoencoder", *options)
    assert quiet.err == ""


def test_no_program_on_the_host() -> None:
    host = tvm_pulp.compile("zoo:autoencoder")
    found = host.footprint
    assert found.code is None and found.cycles is None
    assert found.ram == {"memory": host.metadata["memory"]["arena_bytes"] + 2 * 640}
