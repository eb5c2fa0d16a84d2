"""Plug-ins and runners on installations of GVSoC and ETISS, where there are some (GVSOC_HOME, ETISS_HOME)."""

import os
from pathlib import Path

import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.crosscheck import as_on_device, compare, measure

MODEL = "zoo:autoencoder"
GVSOC = pytest.mark.skipif("GVSOC_HOME" not in os.environ, reason="GVSOC_HOME names no installation of GVSoC")
ETISS = pytest.mark.skipif("ETISS_HOME" not in os.environ, reason="ETISS_HOME names no installation of ETISS")
# Per cent: without and with the model of ours in place of GVSoC's, whose constants depend on its revision.
TOLERANCE = {"gvsoc": 3.0, "etiss": 0.1}


def agree(
    device: str,
    engine: str,
    soc: str,
    l2: int | None = None,
    model: str = MODEL,
    uses: str | None = None,
    **settings: str,
) -> None:
    """Outputs equal, cycles close; with `uses`, layers run on that engine."""
    app = tvm_pulp.compile(model, target=engine, soc=soc, l2=l2)
    facts = app.metadata["tvm_pulp"]
    assert uses is None or uses in {layer["engine"] for layer in facts["layers"]}
    found = app.runner(device, None, settings).soc_settings()
    app = as_on_device(app, found) if found else app
    inputs = prepare_inputs(facts["inputs"], None)
    measured = [measure(app, "iss", inputs, 2, {}), measure(app, device, inputs, 2, settings)]
    comparison = compare(measured, [layer["name"] for layer in facts["layers"]])
    worst = comparison.worst()
    assert comparison.differing == () and worst is not None and abs(worst) <= TOLERANCE[device]


def plugin(simulator: str, folder: Path, capsys: pytest.CaptureFixture[str], soc: str | None = None) -> str:
    done = tvmc(capsys, "plugin", simulator, "-o", folder, "--build", *(["--soc", soc] if soc else []))
    assert done.status == 0, done.err
    return str(folder)


@GVSOC
def test_a_network_on_gvsoc() -> None:
    agree("gvsoc", "c", "siracusa-gvsoc")


@GVSOC
@pytest.mark.parametrize("preset", ["siracusa-gvsoc", "siracusa-gvsoc-banks"])
def test_our_engine_in_gvsoc(preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = "siracusa_tvm_pulp_banks" if preset.endswith("banks") else "siracusa_tvm_pulp"
    agree("gvsoc", "uma-neureka", preset, plugin=plugin("gvsoc", tmp_path / "plugin", capsys), target=target)


@GVSOC
def test_ita_in_gvsoc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soc = "siracusa-gvsoc-ita"
    made = plugin("gvsoc", tmp_path / "plugin", capsys, soc)
    agree("gvsoc", "uma-ita", soc, model="zoo:vit_block", uses="ita", plugin=made)


@GVSOC
@pytest.mark.parametrize("target", ["siracusa_tvm_pulp", "siracusa_tvm_pulp_own"])
def test_ne16_in_gvsoc(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our model, and GVSoC's own in the same place."""
    pytest.importorskip("uma_backends.ne16")
    soc, home = "siracusa-gvsoc-ne16", Path(os.environ["GVSOC_HOME"])
    if target.endswith("own") and not any(home.glob("**/models/pulp/ne16/ne16.so")):
        pytest.skip("this GVSoC was built without its NE16: enable it in a cluster that it builds")
    made = plugin("gvsoc", tmp_path / "plugin", capsys, soc)
    agree("gvsoc", "uma-ne16", soc, uses="ne16", plugin=made, target=target)


@GVSOC
@pytest.mark.parametrize("engine", ["c", "uma-neureka"])
def test_constants_in_l3_on_gvsoc(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agree("gvsoc", engine, "siracusa-gvsoc", l2=128 << 10, plugin=plugin("gvsoc", tmp_path / "plugin", capsys))


@ETISS
def test_a_network_on_etiss() -> None:
    agree("etiss", "c", "rv32-mcu")


@ETISS
@pytest.mark.parametrize(("engine", "model"), [("neureka", "dscnn"), ("ita", "qdq_encoder")])
@pytest.mark.parametrize("blocking", ["false", "true"])
def test_engines_in_etiss(
    engine: str, model: str, blocking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The core polls, and all cycles are equal; or it stands still, and only outputs can be."""
    soc = f"rv32-mcu-{engine}"
    made = plugin("etiss", tmp_path / "plugin", capsys, soc)
    if blocking == "false":
        agree("etiss", f"uma-{engine}", soc, model=f"zoo:{model}", uses=engine, plugin=made)
        return
    app = tvm_pulp.compile(f"zoo:{model}", target=f"uma-{engine}", soc=soc)
    inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
    ours = measure(app, "iss", inputs, 2, {})
    theirs = measure(app, "etiss", inputs, 2, {"plugin": made, "blocking": "true"})
    assert ours.outputs_sha256 == theirs.outputs_sha256
