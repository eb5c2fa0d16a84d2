"""Models that a framework quantized itself give what the framework computes, to a step of eight bits."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp

pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
os.environ.setdefault("KERAS_BACKEND", "jax")
for _name in ("keras", "flax"):
    pytest.importorskip(_name, reason="scripts/test --jax installs it")

from tests.frontend.stablehlo_program import keras_networks, matrix, own_quantizers, test_matrix  # noqa: E402  (need keras)

pytestmark = pytest.mark.jax
PAGE, FIRST, LAST = "docs/frameworks.md", "<!-- own quantizers -->\n", "<!-- end of own quantizers -->\n"
# Packages that quantizers need beside the framework.
NEEDED = {"qwix": "qwix", "LiteRT": "ai_edge_litert"}
LARGEST_RATIO = test_matrix.LARGEST_RATIO


def of_process(backend: str, *networks: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", own_quantizers.__name__, backend, *networks]
    settings = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_one_network() -> None:
    made = own_quantizers.cell(own_quantizers.keras_int8, "mlp")
    assert made is not None and made["steps"] <= 1, made


@pytest.mark.slow
def test_one_network_of_qwix() -> None:
    pytest.importorskip("qwix", reason="pip install qwix")
    made = own_quantizers.cell(own_quantizers.qwix_int8, "cnn")
    assert made is not None and made["steps"] <= 1, made


@pytest.mark.slow
def test_a_product_of_aqt() -> None:
    """Ranges at run time, a product of integers."""
    config = pytest.importorskip("aqt.jax.v2.config", reason="pip install aqtp")
    import jax
    from jax import numpy as jnp

    from tvm_pulp.frontend.frameworks import as_program

    random = np.random.default_rng(0)
    x, weight = (random.normal(size=s).astype(np.float32) for s in ((1, 16), (16, 4)))
    product, held = config.dot_general_make(8, 8), jnp.asarray(weight)

    def function(x: Any) -> Any:
        return product(jnp.asarray(x), held, (((1,), (0,)), ((), ())))

    program = as_program(function, (x,))
    assert "MatMulInteger" in [n.op_type for n in program.onnx_model({}).graph.node]
    (found,) = tvm_pulp.compile(program, "uma-neureka").run([x]).outputs.values()
    expected = np.asarray(jax.jit(function)(x))
    assert np.abs(found - expected).max() <= 1e-5 and np.abs(expected - x @ weight).max() > 1e-3


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.torch
def test_the_whole_table(repository: Path) -> None:
    for name in ("tensorflow", "torch", *NEEDED.values()):
        pytest.importorskip(name)
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for backend in own_quantizers.QUANTIZERS:
        for made in of_process(backend, *keras_networks.NETWORKS):
            found[made["network"]][made["quantizer"]] = made
    if os.environ.get("TVM_PULP_UPDATE_GOLDEN") == "1":
        page = repository / PAGE
        head, rest = page.read_text(encoding="utf-8").split(FIRST)
        page.write_text(head + FIRST + table(found) + LAST + rest.split(LAST)[1], encoding="utf-8")
    wrong = {(n, q): made for n, cells in found.items() for q, made in cells.items() if not is_right(made)}
    assert len(found) == len(keras_networks.NETWORKS) and not wrong, wrong
    # Of the quantizers LiteRT alone has static ranges, as the quantized ONNX files of the matrix have.
    files = fastest_files((repository / PAGE).read_text(encoding="utf-8"))
    ratios = {n: cells["LiteRT"]["cycles"] / files[n] for n, cells in found.items() if "LiteRT" in cells}
    assert len(ratios) >= len(files) - len(own_quantizers.NOT_CONVERTED) and max(ratios.values()) <= LARGEST_RATIO, (
        ratios
    )


def fastest_files(page: str) -> dict[str, float]:
    """Cycles of each network of the matrix from the faster of its ONNX files, int8."""
    lines = page.split(test_matrix.FIRST)[1].split(test_matrix.LAST)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    columns = [rows[0].index(file) for file in matrix.ONNX]
    numbers = {row[0]: [row[c].split(", ")[1] for c in columns if ", " in row[c]] for row in rows[2:]}
    return {network: min(1000 * float(n.rstrip("k !")) for n in found) for network, found in numbers.items()}


def test_the_page_is_read() -> None:
    line = "| cnn | 54.9 k, 14.4 k | 46.6 k, 12.7 k! | 1 k, 1 k |\n| gru | 13.7 k, 25.4 k | · | 1 k, 1 k |\n"
    head = f"| network | {' | '.join(matrix.ONNX)} | Flax |\n| --- | --- | --- | --- |\n"
    page = "text\n" + test_matrix.FIRST + head + line + test_matrix.LAST
    assert fastest_files(page) == {"cnn": 12700, "gru": 25400}


def is_right(cell: dict[str, Any]) -> bool:
    """Within a step, or nearer than the framework is to itself when the last bits of its parameters are others."""
    return bool(cell["steps"] <= max(1, cell.get("width", 0)))


def table(found: dict[str, dict[str, Any]]) -> str:
    """Distance in steps, and cycles."""
    titles = [t for group in own_quantizers.QUANTIZERS.values() for t in group]
    lines = [["network", *titles], ["---"] * (len(titles) + 1)]
    for network in (n for n in keras_networks.NETWORKS if n in found):
        shown = [found[network].get(t) for t in titles]
        lines.append([network, *("·" if c is None else f"{c['steps']:.0e}, {c['cycles'] / 1000:.1f} k" for c in shown)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("0e+00,", "0,")


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("recipe", ["static_wi8_ai8", "static_wi8_ai16", "dynamic_wi8_afp32"])
def test_recipes_of_the_ai_edge_quantizer(recipe: str, tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="scripts/test --tensorflow installs it")
    quantizer = pytest.importorskip("ai_edge_quantizer.quantizer", reason="pip install ai-edge-quantizer")
    from ai_edge_litert.interpreter import Interpreter
    from ai_edge_quantizer import recipe as recipes

    if keras_networks.keras.backend.backend() != "tensorflow":
        pytest.skip("Keras was imported with another backend: run with KERAS_BACKEND=tensorflow")
    path = own_quantizers.litert_file("mlp", tmp_path, is_quantized=False)
    _, inputs = keras_networks.build("mlp")
    machine = quantizer.Quantizer(str(path))
    machine.load_quantization_recipe(getattr(recipes, recipe)())
    ranges = None
    if machine.need_calibration:
        (key,) = Interpreter(str(path)).get_signature_list()
        name = Interpreter(str(path)).get_signature_list()[key]["inputs"][0]
        ranges = machine.calibrate({key: [{name: inputs[0] * factor} for factor in (1, 0.5, -1)]})
    made = tmp_path / "quantized.tflite"
    machine.quantize(ranges).export_model(str(made), overwrite=True)
    given, expected = own_quantizers.by_litert(made, inputs)
    (found,) = tvm_pulp.compile(made, "uma-neureka").run(given).outputs.values()
    if "dynamic" in recipe:
        assert np.abs(found - expected[0]).max() <= 1e-6
    else:
        assert np.array_equal(found, expected[0])


@pytest.mark.slow
@pytest.mark.tensorflow
def test_quantization_aware_training_of_model_optimization(tmp_path: Path) -> None:
    """In a process: it wants the Keras of before."""
    for name in ("tensorflow", "tensorflow_model_optimization", "tf_keras", "ai_edge_litert"):
        pytest.importorskip(name, reason=f"pip install {name}")
    settings = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, "-c", TRAINED, str(tmp_path / "net.tflite")], env=settings, check=True)
    x = np.random.default_rng(1).normal(size=(1, 8, 8, 3)).astype(np.float32)
    given, expected = own_quantizers.by_litert(tmp_path / "net.tflite", [x])
    (found,) = tvm_pulp.compile(tmp_path / "net.tflite", "uma-neureka").run(given).outputs.values()
    assert np.array_equal(found, expected[0])


TRAINED = """
import sys
import numpy as np, tensorflow as tf, tf_keras, tensorflow_model_optimization as tfmot
L = tf_keras.layers
layers = [L.Conv2D(8, 3, padding="same", activation="relu"), L.GlobalAveragePooling2D(), L.Dense(4)]
model = tfmot.quantization.keras.quantize_model(tf_keras.Sequential([L.Input((8, 8, 3)), *layers]))
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(16, 8, 8, 3)).astype(np.float32)
model.fit(x, np.zeros((16, 4)), epochs=1, verbose=0)
converter = tf.lite.TFLiteConverter.from_keras_model(model)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
open(sys.argv[1], "wb").write(converter.convert())
"""
