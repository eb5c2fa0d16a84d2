"""One row times weights of four bits: two columns in a byte on PULP's cores, the same values as everywhere else."""

import numpy as np
import pytest

import tvm_pulp
from schedules.packed_weights import pack_nibbles
from tvm_pulp.frontend import zoo

FORM = "nibble_dense kernel"


@pytest.mark.parametrize(("bits", "cores"), [(4, 8), (8, 8), (4, 1)], ids=str)
def test_four_bits_are_packed_by_two_where_cores_wait_for_bytes(bits: int, cores: int) -> None:
    model = zoo.build("autoencoder", weight_bits=bits)
    rng = np.random.default_rng(bits)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {model.graph.input[0].name: rng.integers(-128, 128, shape).astype(np.int8)}
    on_cores = tvm_pulp.compile(model, "c", soc="siracusa", cores=cores).run(feeds)
    on_host = tvm_pulp.compile(model, "c").run(feeds)
    for name, expected in on_host.outputs.items():
        np.testing.assert_array_equal(on_cores.outputs[name], expected)
    forms = [entry["form"] for entry in on_cores.report["layers"] if entry["op"] == "dense"]
    assert (FORM in forms) == (bits == 4 and cores == 8)


def test_every_pair_fits_a_byte() -> None:
    low, high = np.meshgrid(np.arange(-8, 8), np.arange(-8, 8))
    weight = np.zeros((4, 256), np.int8)
    weight[0], weight[1] = low.reshape(-1), high.reshape(-1)
    packed = pack_nibbles(weight).reshape(64, 2, 4)[:, 0].reshape(-1).astype(int)
    np.testing.assert_array_equal((packed & 15) - 8, weight[0])
    np.testing.assert_array_equal(packed >> 4, weight[1])
