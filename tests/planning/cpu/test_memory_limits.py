"""Options --ram and --flash: strips of rows and weights of 16 bits, the same results; what cannot fit is refused."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.schedules.cpu.random_layers import archive, expected, random_layer
from tvm_pulp.errors import UserError
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.sim.runner import runner_class
from tvm_pulp.tvmc.main import main

MODEL = "zoo:resnet8"


@pytest.fixture(scope="module")
def wanted() -> dict[str, np.ndarray]:
    return tvm_pulp.compile(MODEL).run().outputs


@pytest.fixture(scope="module")
def plenty() -> tvm_pulp.Result:
    return tvm_pulp.compile(MODEL, soc="cortex-m4").run()


def test_less_ram_takes_more_instructions_and_no_more_than_it(
    wanted: dict[str, np.ndarray], plenty: tvm_pulp.Result
) -> None:
    limit = plenty.report["footprint"]["ram"]["memory"] - 5_000
    little = tvm_pulp.compile(MODEL, soc="cortex-m4", ram=limit).run()
    for name, value in wanted.items():
        np.testing.assert_array_equal(plenty.outputs[name], value)
        np.testing.assert_array_equal(little.outputs[name], value)
    assert little.report["footprint"]["ram"]["memory"] <= limit
    assert little.report["instructions"] > plenty.report["instructions"]
    assert len(little.report["layers"]) > len(plenty.report["layers"])
    # Constants of strips are those of the layer.
    assert little.report["footprint"]["constants"] == plenty.report["footprint"]["constants"]


def test_plain_loops_also_run_in_strips(wanted: dict[str, np.ndarray]) -> None:
    arena = tvm_pulp.compile(MODEL).metadata["memory"]["arena_bytes"]
    app = tvm_pulp.compile(MODEL, ram="48k")
    assert app.metadata["memory"]["arena_bytes"] < arena
    for name, value in app.run().outputs.items():
        np.testing.assert_array_equal(value, wanted[name])


def test_spare_flash_makes_weights_wide(wanted: dict[str, np.ndarray], plenty: tvm_pulp.Result) -> None:
    needs = plenty.report["footprint"]
    limit = needs["code"] + needs["constants"] + 40_000
    result = tvm_pulp.compile(MODEL, soc="cortex-m4", flash=limit).run()
    for name, value in wanted.items():
        np.testing.assert_array_equal(result.outputs[name], value)
    used = result.report["footprint"]
    assert limit - 30_000 < used["code"] + used["constants"] <= limit
    assert result.report["instructions"] < plenty.report["instructions"]


@pytest.mark.parametrize("seed", [3, 4])
def test_random_layers_with_wide_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = [random_layer(rng, number) for number in range(16)]
    layers = [layer for layer, _ in made]
    files, metadata = archive(layers, "cortex-m4", fill_flash=True)
    assert b"tvm_pulp_product_wide_one_" in files["codegen/host/src/many_kernels.c"]
    runner = runner_class("unicorn")()
    runner.build(files, metadata)
    outputs = run_twice(runner, metadata, [values for _, values in made]).outputs
    for (layer, values), output in zip(made, outputs, strict=True):
        np.testing.assert_array_equal(output, expected(layer, values), err_msg=f"{layer.attributes}")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"soc": "cortex-m4", "ram": "12k"}, r"--ram 12288 is too little: the least that this network was found to "
         r"need is \d+: activations \d+, inputs and outputs \d+, stack 8192; allow as much, or a smaller network"),
        ({"soc": "cortex-m4", "ram": "1G"}, r"--ram '1G' is no number of bytes"),
        ({"soc": "cortex-m4", "ram": "100M"}, r"--ram 104857600: SoC cortex-m4 has 4194304 bytes of RAM"),
        ({"soc": "cortex-m4", "flash": "10k"}, r"--flash 10240 is too little: code and constants of this network take "
         r"\d+ bytes; allow as much, or choose a smaller network"),
        ({"flash": "10k"}, r"--flash has no effect on --soc host, whose programs lie in files: drop it"),
        ({"soc": "siracusa", "ram": "10k"}, r"--ram has no effect on --soc siracusa: drop it, or limit its memories by "
         r"--l1 and --l2"),
        ({"ram": "10k", "keep_layers": True}, r"keep_layers keeps what every layer made, which no ram or flash"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        tvm_pulp.compile("zoo:dscnn", **options)


def test_the_least_that_is_named_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive_path = tmp_path / "net.tar"
    command = ["compile", "zoo:dscnn", "--soc=cortex-m4", "-o", str(archive_path)]
    assert main([*command, "--ram", "4k"]) == 2
    assert not archive_path.exists()
    least = capsys.readouterr().err.split("need is ")[1].split(":")[0]
    assert main([*command, "--ram", least]) == 0
