"""Debug builds for CPUs: right programs pass every check, and a planted fault is found with the name of its layer."""

import re
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp import api
from tvm_pulp.codegen.debug_source import GUARD_BYTES
from tvm_pulp.errors import WrongLayer

TABLE, RUN, WEIGHTS = (f"codegen/host/src/default_{part}.c" for part in ("debug", "run", "weights"))


def fault(files: dict[str, bytes]) -> str:
    with pytest.raises(WrongLayer) as found:
        api.App(files).run()
    return str(found.value)


@pytest.mark.parametrize("soc", ["host", "native", "cortex-m4"])
def test_right_programs_pass(soc: str) -> None:
    if soc == "cortex-m4":
        pytest.importorskip("unicorn")
    app = tvm_pulp.compile("zoo:dscnn", soc=soc, debug=True)
    text = app.run().debug or ""
    layers, buffers = len(app.metadata["tvm_pulp"]["layers"]), app.files[TABLE].count(b"TVM_PULP_CHECK_GUARD")
    assert text == f"all {layers + buffers} checks of layers and of the bytes between buffers passed"
    assert buffers >= layers - 1, "a result in another's place has no buffer of its own, but work spaces have"
    other = {
        tensor["name"]: np.zeros(tensor["shape"], tensor["dtype"]) for tensor in app.metadata["tvm_pulp"]["inputs"]
    }
    assert "not the sample input" in (app.run(other).debug or "")


def test_a_wrong_weight() -> None:
    files = tvm_pulp.compile("zoo:dscnn", debug=True).files
    name = b"block3_pointwise_weight"
    found = re.search(rb"[^\n]*" + name + rb"\[[^{]*\{\s*(-?\d+),", files[WEIGHTS])
    assert found is not None
    value = b"%d" % (int(found[1]) ^ 0x40)
    damaged = found[0][: -len(found[1]) - 1] + value + b","
    message = fault({**files, WEIGHTS: files[WEIGHTS].replace(found[0], damaged)})
    assert (
        "layer 'block3_pointwise' is the first that is wrong: output block3_pointwise (step 7 of the program" in message
    )


def test_a_write_behind_a_buffer() -> None:
    files = tvm_pulp.compile("zoo:dscnn", debug=True).files
    guards = re.findall(
        rb'\{(\d+)u, TVM_PULP_CHECK_GUARD, 0, 1u, (\d+)u, (\d+)u, \w+, "(\w+)", "([^"]+)"\}', files[TABLE]
    )
    step, offset, size, layer, what = guards[2]
    assert int(size) == GUARD_BYTES
    # What the layer before that step does last.
    looks = list(re.finditer(rb"  tvm_pulp_debug_step\(debug_bases, 0\);", files[RUN]))
    place = looks[int(step)].start()
    spoilt = files[RUN][:place] + b"  arena[%d] = 0;\n" % (int(offset) + GUARD_BYTES - 1) + files[RUN][place:]
    message = fault({**files, RUN: spoilt})
    assert f"layer '{layer.decode()}' is the first that is wrong: {what.decode()}" in message


def test_other_builds_are_untouched() -> None:
    plain, debug = (tvm_pulp.compile("zoo:dscnn", debug=debug).files for debug in (False, True))
    assert not any(b"debug" in data for name, data in plain.items() if name.endswith((".c", ".h")))
    more = {TABLE, "runtime/debug/tvm_pulp_debug.c", "runtime/debug/tvm_pulp_debug.h", "runtime/include/tvm_pulp/hal.h"}
    assert debug.keys() - plain.keys() == more


@pytest.mark.parametrize("limit", ["--ram=60k", "--threads=2"])
def test_layers_in_parts_are_refused(limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = ["zoo:dscnn", "--soc=host", "--debug", limit, "-o", tmp_path / "n.tar"]
    words = ("--debug compares layers", limit.split("=")[0], "drop one of them")
    check_refused(tvmc(capsys, "compile", *stated), words, "compile")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["resnet8", "mobilenetv1", "vit_block", "qdq_encoder", "autoencoder"])
@pytest.mark.parametrize("soc", ["native", "cortex-m7"])
def test_networks(soc: str, model: str) -> None:
    if soc == "cortex-m7":
        pytest.importorskip("unicorn")
    assert "checks of layers" in (tvm_pulp.compile(f"zoo:{model}", soc=soc, debug=True).run().debug or "")
