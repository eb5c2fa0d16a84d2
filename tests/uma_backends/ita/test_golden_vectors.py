"""Every golden vector: the numpy reference, job lists, and the C model through its registers."""

from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import Machine
from tests.uma_backends.ita import reference
from tests.uma_backends.ita.jobs import NO_BIAS, Product, register_words, row_tile_products
from uma_backends.ita.packing import pack_biases, tile_matrix
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.registers import Constants, LayerKind, RequantSlot

from .golden_vector import NAMES, GoldenVector, activation_of, rule_of
from .queued import run_queued

PRODUCTS = [*NAMES["gemm"], *NAMES["attn"], *NAMES["mha"], *NAMES["ffn"]]
POINTERS_OF_BIAS = 3
# Cycles of whole lists on the public RTL, from the first trigger to the last event.
RTL_CYCLES = {
    "attn_00": 1841,
    "attn_01": 2968,
    "attn_02": 4823,
    "attn_03": 7073,
    "gemm_00": 308,
    "gemm_02": 1836,
    "gemm_03": 2216,
    "gemm_05": 922,
    "ffn_00": 1194,
    "ffn_03": 2391,
}


def vectors(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", [n for kind in kinds for n in NAMES[kind]], indirect=True)


def test_the_list_of_vectors_is_complete(golden_data: Path) -> None:
    """A new file in the folder must be added to the list."""
    found = sorted(path.stem for path in (golden_data / "ita_vectors").glob("*.npz"))
    assert found == sorted(name for names in NAMES.values() for name in names)
    assert len(found) == 27


@pytest.mark.parametrize("vector", PRODUCTS, indirect=True)
def test_model_on_recorded_jobs(vector: GoldenVector, machine: Machine) -> None:
    """The job lists of the vectors turn each image into the expected one, byte for byte, and touch nothing else."""
    for before, jobs, after in vector.runs():
        machine.l1[:] = 0xA5
        machine.l1[: before.size] = before
        run_queued(machine, jobs.tolist())
        np.testing.assert_array_equal(machine.l1[: after.size], after)
        assert (machine.l1[after.size :] == 0xA5).all()


@pytest.mark.parametrize("vector", RTL_CYCLES, indirect=True)
def test_cycles_of_recorded_jobs(vector: GoldenVector, machine: Machine) -> None:
    """To the cycle what the public RTL takes."""
    ((before, jobs, _),) = vector.runs()
    machine.l1[: before.size] = before
    assert run_queued(machine, jobs.tolist()) == RTL_CYCLES[vector.name]


@pytest.mark.parametrize("vector", PRODUCTS, indirect=True)
def test_job_lists(vector: GoldenVector) -> None:
    """This folder's sequences give the recorded registers; what is off does not count."""
    for index, (_, jobs, _) in enumerate(vector.runs()):
        if vector.name.startswith("gemm"):
            layer, (constants, products) = LayerKind.LINEAR, vector.product()
        elif vector.name.startswith("ffn"):
            layer, (constants, products) = LayerKind.FEEDFORWARD, vector.feedforward()
        else:
            layer, (constants, products) = LayerKind.ATTENTION, vector.head(index)
        made = np.array(list(register_words(layer, constants, products)), np.uint32)
        assert made.shape == jobs.shape
        for words in (made, jobs := jobs.copy()):
            words[words[:, 14] & 4 != 0, POINTERS_OF_BIAS] = 0
            words[:, 6] &= 0xFFFF if layer is LayerKind.FEEDFORWARD else 0xFFF
            words[words[:, 13] >> 2 == 0, 15:] = 0
        np.testing.assert_array_equal(made, jobs)


@vectors("softmax")
def test_softmax(vector: GoldenVector, machine: Machine) -> None:
    """Alone in numpy, and through QK and AV of the model: keys that make any logits, values that select columns."""
    x, y = vector.arrays["x"], vector.arrays["y"]
    np.testing.assert_array_equal(reference.softmax(x), y)
    length = x.shape[1]
    s = length // 64
    logits = np.full((length, length), -7, np.int8)
    logits[: len(x)] = x
    # Row r of the queries selects column r of the keys, which are those of 64 rows of logits at a time.
    size = 4096 * s
    q, k, v, a, o = (size * i for i in range(5))
    rules = {RequantSlot.QK: ItaRequantization(1, 0), RequantSlot.AV: ItaRequantization(1, 0, -128)}
    constants = Constants((s, 1, 1, 1), rules)
    for group in range(-(-len(x) // 64)):
        rows = logits[64 * group : 64 * group + 64]
        machine.l1[k : k + size] = np.ascontiguousarray(rows.T).view(np.uint8).reshape(-1)
        machine.l1[q : q + size] = np.tile(np.eye(64, dtype=np.uint8).reshape(-1), s)
        for window in range(s):
            values = np.zeros((64, length), np.int8)
            values[:, 64 * window : 64 * window + 64] = np.eye(64, dtype=np.int8)
            machine.l1[v : v + size] = tile_matrix(values).view(np.uint8).reshape(-1)
            products = row_tile_products(q, k, v, a, o, s, 1, 0)
            run_queued(machine, list(register_words(LayerKind.SINGLE_ATTENTION, constants, products)))
            made = machine.l1[o : o + 4096].view(np.int8).reshape(64, 64).astype(np.int64) + 128
            np.testing.assert_array_equal(made, reference.softmax(rows)[:, 64 * window : 64 * window + 64])


@vectors("gelu")
@pytest.mark.parametrize("kind", ["gelu", "relu"])
def test_activation(vector: GoldenVector, kind: str, machine: Machine) -> None:
    """All 256 inputs, alone in numpy and behind a product with the unit matrix in the model."""
    arrays = dict(vector.arrays)
    expected = arrays["y" if kind == "gelu" else "y_relu"]
    if kind == "relu":
        arrays |= {f"act_{key}": arrays[f"relu_act_{key}"] for key in ("mult", "shift", "add")}
    activation = activation_of(arrays, 1 if kind == "gelu" else 2)
    assert activation is not None
    np.testing.assert_array_equal(activation.apply(arrays["q"]), expected)
    machine.l1[:256] = arrays["q"].astype(np.int8).view(np.uint8)
    machine.l1[4096:8192] = np.eye(64, dtype=np.uint8).reshape(-1)
    constants = Constants((1, 1, 1, 1), {RequantSlot.Q: ItaRequantization(1, 0)}, activation)
    product = Product(0, 4096, 8192, 1, 1, 1, bias_kind=NO_BIAS, has_activation=True)
    run_queued(machine, list(register_words(LayerKind.LINEAR, constants, [product])))
    np.testing.assert_array_equal(machine.l1[8192 : 8192 + 256].view(np.int8), expected)


@vectors("gemm")
def test_product_reference(vector: GoldenVector) -> None:
    """Sums, requantization and activation in numpy."""
    a = vector.arrays
    sums = a["x"].astype(np.int64) @ a["w"].astype(np.int64) + a["bias"]
    rows, columns = a["acc"].shape
    np.testing.assert_array_equal(sums[:rows, :columns], a["acc"])
    before = reference.linear(a["x"], a["w"], a["bias"], rule_of(a))
    np.testing.assert_array_equal(before, a["pre_activation"])
    after = reference.linear(a["x"], a["w"], a["bias"], rule_of(a), activation_of(a))
    np.testing.assert_array_equal(after, a["y"])


@vectors("attn", "mha")
def test_attention_reference(vector: GoldenVector) -> None:
    """All intermediate tensors of every head, and the sum of heads."""
    a = vector.arrays
    for h in range(int(a["H"])):
        rules = [rule_of(a, i, h) for i in range(6)]
        q, k, v = (
            reference.linear(a["q" if i == 0 else "kv"], a[f"W{n}"][h], a[f"B{n}"][h], rules[i])
            for i, n in enumerate("qkv")
        )
        np.testing.assert_array_equal(q, a["Qp"][h])
        np.testing.assert_array_equal(k, a["Kp"][h])
        np.testing.assert_array_equal(v, a["Vp"][h])
        o = reference.attention(q, k, v, rules[3], rules[4])
        np.testing.assert_array_equal(o, a["O"][h])
        np.testing.assert_array_equal(reference.linear(o, a["Wo"][h], a["Bo"][h], rules[5]), a["out_heads"][h])
    if "out" in a:
        total = a["out_heads"].astype(np.int64).sum(axis=0)
        np.testing.assert_array_equal(rule_of(a, 6, 0).apply(total), a["out"])


@vectors("ffn")
def test_feedforward_reference(vector: GoldenVector) -> None:
    """Both products."""
    a = vector.arrays
    inner = reference.linear(a["x"], a["W1"], a["B1"], rule_of(a, 0), activation_of(a))
    np.testing.assert_array_equal(inner, a["f1"])
    np.testing.assert_array_equal(reference.linear(inner, a["W2"], a["B2"], rule_of(a, 1)), a["y"])


@vectors("gemm")
def test_packing(vector: GoldenVector) -> None:
    """Inputs, weights and biases as the image holds them."""
    a = vector.arrays
    image = a["mem_init"]

    def at(name: str, count: int) -> np.ndarray:
        return image[int(a[f"off_{name}"]) :][:count]

    np.testing.assert_array_equal(at("input", a["x"].size), tile_matrix(a["x"]).view(np.uint8).reshape(-1))
    np.testing.assert_array_equal(at("weight", a["w"].size), tile_matrix(a["w"].T).view(np.uint8).reshape(-1))
    np.testing.assert_array_equal(at("bias", 3 * a["bias"].size), pack_biases(a["bias"]))
