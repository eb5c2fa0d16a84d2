"""Frameworks, routes and networks: right everywhere, and as fast as the same network from an ONNX file."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
os.environ.setdefault("KERAS_BACKEND", "jax")
for _name in ("keras", "flax", "onnxruntime"):
    pytest.importorskip(_name, reason="scripts/test --jax installs it")

from tests.frontend.stablehlo_program import keras_networks, matrix  # noqa: E402  (need keras)

pytestmark = pytest.mark.jax
LARGEST_RATIO = 1.3
PAGE, FIRST, LAST = "docs/frameworks.md", "<!-- matrix -->\n", "<!-- end of matrix -->\n"
Cells = dict[str, dict[str, dict[str, Any]]]


def check_right(cell: dict[str, Any]) -> None:
    assert cell["float"] <= 1e-4 and cell["int8"] <= 1.001, cell


@pytest.mark.parametrize("route", ["Keras on JAX", "Flax"])
def test_one_network(route: str) -> None:
    made = matrix.cell(matrix.ROUTES["jax"][route], "mlp")
    assert made is not None
    check_right(made)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.torch
def test_the_whole_matrix(repository: Path) -> None:
    for name in ("tensorflow", "torch", "tf2onnx"):
        pytest.importorskip(name)
    cells: Cells = defaultdict(dict)
    for backend in matrix.ROUTES:
        for made in _of_process(backend):
            cells[made["network"]][made["route"]] = made
    page = repository / PAGE
    if os.environ.get("TVM_PULP_UPDATE_GOLDEN") == "1":
        head, rest = page.read_text(encoding="utf-8").split(FIRST)
        page.write_text(head + FIRST + table(cells) + LAST + rest.split(LAST)[1], encoding="utf-8")
    for routes in cells.values():
        for made in routes.values():
            check_right(made)
        for key in ("cycles", "int8_cycles"):
            fastest = min(routes[file][key] for file in matrix.ONNX if file in routes)
            slow = {n: c[key] for n, c in routes.items() if n not in matrix.ONNX and c[key] > LARGEST_RATIO * fastest}
            assert not slow, (fastest, slow)


def _of_process(backend: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", matrix.__name__, backend, *keras_networks.NETWORKS]
    settings = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def table(cells: Cells) -> str:
    """Cycles, float and int8, of every route; an ending in ! says that it is not right."""
    routes = [*matrix.ONNX, *(r for group in matrix.ROUTES.values() for r in group if r not in matrix.ONNX)]
    lines = [["network", *routes], ["---"] * (len(routes) + 1)]
    for network, made in cells.items():
        lines.append([network, *(_shown(made.get(route)) for route in routes)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _shown(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "·"
    wrong = "" if cell["float"] <= 1e-4 and cell["int8"] <= 1.001 else "!"
    return f"{cell['cycles'] / 1000:.1f} k, {cell['int8_cycles'] / 1000:.1f} k{wrong}"
