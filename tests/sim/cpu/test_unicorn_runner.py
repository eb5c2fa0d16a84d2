"""Device unicorn: programs for Cortex-M give the host's outputs, and say what they cost in instructions."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.schedules.cpu.test_layers_on_cores import CORES, EMULATED, skip_without
from tests.simulated.golden_cases import DATA
from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.report.table import print_report
from tvm_pulp.tvmc.main import main

TINY = ("kws", "resnet", "vww", "toycar")


def outputs_equal(model: str, soc: str) -> dict[str, object]:
    """The report of a run whose outputs are those of the plain loops on this machine."""
    cpu = socs.load(soc).cpu
    assert cpu is not None
    made = tvm_pulp.compile(model, soc=soc).run(device=next(iter(cpu.devices)))
    wanted = tvm_pulp.compile(model, soc="host").run()
    for name, value in wanted.outputs.items():
        np.testing.assert_array_equal(made.outputs[name], value, err_msg=f"{model} {soc} {name}")
    return made.report


def test_a_network_runs_and_its_instructions_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = str(tmp_path / "net.tar")
    assert main(["compile", "zoo:dscnn", "--soc=cortex-m4", "-o", archive]) == 0
    result = tvm_pulp.App.load(archive).run()
    wanted = tvm_pulp.compile("zoo:dscnn").run()
    for name, value in wanted.outputs.items():
        np.testing.assert_array_equal(result.outputs[name], value)
    report = result.report
    layers = [layer["instructions"] for layer in report["layers"]]
    assert report["device"] == "unicorn" and report["cycles"] is None
    assert report["instructions"] == sum(layers) and min(layers) > 0
    assert report["code_bytes"] > 0
    text = io.StringIO()
    print_report(report, result.outputs, text)
    shown = " ".join(text.getvalue().split())
    assert "instructions" in shown and "cycle" not in shown
    # The count is exact: it repeats.
    assert tvm_pulp.App.load(archive).run().report["instructions"] == report["instructions"]


@pytest.fixture(scope="module")
def app() -> tvm_pulp.App:
    return tvm_pulp.compile("zoo:dscnn", soc="cortex-m4")


def test_the_emulator_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, app: tvm_pulp.App) -> None:
    monkeypatch.setitem(sys.modules, "unicorn", None)
    with pytest.raises(UserError, match=r"pip install 'tvm_pulp\[cortex-m\]'"):
        app.run()


def test_an_archive_of_another_soc_is_refused(app: tvm_pulp.App) -> None:
    with pytest.raises(UserError, match="--soc=cortex-m33 or --soc=cortex-m4"):
        tvm_pulp.compile("zoo:dscnn").run(device="unicorn")
    with pytest.raises(UserError, match="--soc=host"):
        app.run(device="host")
    with pytest.raises(UserError, match="--device iss"):
        app.run(device="iss")


def test_every_layer_can_be_looked_at() -> None:
    made, wanted = (
        tvm_pulp.compile("zoo:dscnn", soc=soc, keep_layers=True).run(layers=True) for soc in ("cortex-m4", "host")
    )
    assert made.layers is not None and wanted.layers is not None and len(made.layers) == 10
    for name, value in wanted.layers.items():
        np.testing.assert_array_equal(made.layers[name], value, err_msg=name)


def test_options_of_a_cluster_have_no_effect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "zoo:dscnn", "--soc=cortex-m4", "--cores=2", "-o", "none.tar"]) == 2
    assert "no effect on --soc cortex-m4" in capsys.readouterr().err


def test_a_stack_that_is_too_small_is_found(tmp_path: Path) -> None:
    description = tmp_path / "small.yaml"
    description.write_text("based_on: cortex-m4\nname: small\ncpu: {stack_bytes: 128}\n")
    with pytest.raises(WrongAnswer, match="exit status 3"):
        tvm_pulp.compile("zoo:dscnn", soc=str(description)).run()


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        (
            "ram: {base: 0x20000000, size: 0x2000}",
            "SoC small has 8192 bytes of RAM: the least that this network was found to need is 18550: activ",
        ),
        ("flash: {base: 0, size: 0x2000}", "SoC small has 8192 bytes of flash and the network's constants need 33728"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(tmp_path: Path, memory: str, sentence: str) -> None:
    description = tmp_path / "small.yaml"
    description.write_text(f"based_on: cortex-m4\nname: small\ncpu: {{{memory}}}\n")
    with pytest.raises(UserError, match=sentence):
        tvm_pulp.compile("zoo:dscnn", soc=str(description))


@pytest.mark.slow
@pytest.mark.parametrize("soc", CORES)
@pytest.mark.parametrize("model", [*(str(DATA / f"mlperf_tiny/{n}/model.tflite") for n in TINY), "zoo:resnet8"])
def test_networks_give_the_hosts_outputs(model: str, soc: str) -> None:
    skip_without(soc)
    outputs_equal(model, soc)


@pytest.mark.slow
@pytest.mark.parametrize("soc", ["cortex-m4", *EMULATED, "x86-64-vnni"])
@pytest.mark.parametrize("name", ["autoencoder", "mobilenetv1", "vit_block", "qdq_encoder", "qdq_llama", "tinyllama"])
def test_the_zoo_gives_the_hosts_outputs(name: str, soc: str) -> None:
    skip_without(soc)
    outputs_equal(f"zoo:{name}", soc)
