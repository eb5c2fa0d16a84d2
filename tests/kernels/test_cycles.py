"""The cost models stay near the simulator, on calls that the fit did not see."""

import numpy as np
import pytest

from schedules.kernel_cycles import WORKS, call_cost
from schedules.kernel_cycles.coefficients import COEFFICIENTS, read_coefficients
from tests.kernels.call import run_on_cluster
from tests.kernels.elementwise_cases import gelu_case, hardswish_case
from tests.kernels.fit_cycles import MODELS, TARGET, errors, flat, samples, text_of
from tests.kernels.matrix_cases import Case, Window, conv2d_case, dense_case
from tests.kernels.row_cases import rms_norm_case
from tvm_pulp.errors import UserError
from tvm_pulp.soc import CostModel, load

SAMPLES = 40
SIRACUSA = load("siracusa")
FITTED = COEFFICIENTS[SIRACUSA.software.core_type]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", MODELS)
def test_prediction_is_as_good_as_stated(kernel: str) -> None:
    found = errors(FITTED[kernel].cycles, list(samples(kernel, 3, SAMPLES)))
    stated = FITTED[kernel]
    # Forty calls scatter around the median of many.
    assert np.median(np.abs(found)) <= 1.5 * stated.median_error + 0.04
    assert np.abs(found).max() <= 1.5 * stated.largest_error + 0.15


@pytest.mark.parametrize("kernel", ["lookup", "dense", "rms_norm"])
def test_cold_code_costs_what_was_measured(kernel: str) -> None:
    """On average: in a single call some lines may be there already, by the place of other kernels in the program."""
    found = list(samples(kernel, 4, 6))
    expected = sum(FITTED[kernel].cold_cycles[n] for sample in found for n, c in sample.work.items() if c)
    assert 0.7 < expected / sum(sample.cold_cycles for sample in found) < 1.4


def test_every_kernel_has_a_model_and_coefficients() -> None:
    assert set(WORKS) == set(MODELS) == set(FITTED)


def test_the_file_is_what_the_fit_would_write() -> None:
    assert text_of(read_coefficients()) == TARGET.read_text(encoding="utf-8")


def test_a_core_type_without_coefficients_is_a_users_error() -> None:
    strange = SIRACUSA.with_settings({"software.core_type": "mmx"})
    with pytest.raises(UserError, match=r"core_type 'mmx' has no kernel coefficients.* choose one of ri5cy, snitch"):
        call_cost("lookup", {"count": 64}, CostModel(strange))


def cost(case: Case, cores: int = 8) -> int:
    return call_cost(case.call.kernel, flat(case.call.arguments), CostModel(SIRACUSA, cores)).cycles


def test_more_work_costs_more() -> None:
    rng = np.random.default_rng(0)

    def dense(depth: int, kind: str = "none", cores: int = 8) -> int:
        return cost(dense_case(rng, 64, 64, depth, kind), cores)

    assert dense(64) < dense(128) < dense(128, cores=1)
    assert dense(64) < dense(64, "tflite")
    pointwise = Window((1, 1), pads=(0, 0, 0, 0))
    assert cost(conv2d_case(rng, (8, 8, 32), 32, pointwise)) < cost(conv2d_case(rng, (8, 8, 32), 32, Window()))
    assert cost(hardswish_case(rng, 1, 1000, "tflite")) < cost(gelu_case(rng, 1, 2000, "tflite"))
    assert cost(rms_norm_case(rng, 8, 64)) < cost(rms_norm_case(rng, 16, 64)) < cost(rms_norm_case(rng, 16, 128))


@pytest.mark.parametrize("dilation", [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("channels", [3, 16])
def test_windows_of_any_dilation_have_a_cost(dilation: tuple[int, int], channels: int) -> None:
    window = Window(dilation=dilation, pads=(*dilation, *dilation))
    case = conv2d_case(np.random.default_rng(0), (16, 16, channels), 16, window)
    measured = max(core["own_cycles"] for core in run_on_cluster(case.call, 8).cores)
    assert 0.75 < cost(case) / measured < 1.33


def test_the_matrix_product_of_the_reference_is_near_its_bound() -> None:
    macs_per_cycle = 64**3 / cost(dense_case(np.random.default_rng(0), 64, 64, 64, "none"))
    assert 14 < macs_per_cycle < 64 / 24 * 8
