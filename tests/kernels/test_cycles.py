"""The cost models stay near the simulator, on shapes that the fit did not see."""

from __future__ import annotations

import numpy as np
import pytest

from schedules.kernel_cycles import conv2d_cycles, dense_cycles, elementwise_cycles, row_cycles
from schedules.kernel_cycles.coefficients import COEFFICIENTS
from schedules.kernel_cycles.model import predict
from tests.kernels.fit_cycles import MODELS, samples

SAMPLES = 16


@pytest.mark.parametrize("model", MODELS)
def test_prediction_is_as_good_as_stated(model: str) -> None:
    found = [predict(model, work) / cycles - 1 for work, cycles in samples(model, 3, SAMPLES)]
    stated = COEFFICIENTS[model]
    # Sixteen shapes scatter around the median of many.
    assert np.median(np.abs(found)) <= 1.5 * stated.median_error + 0.04
    assert np.abs(found).max() <= 1.5 * stated.largest_error + 0.1


def test_more_work_costs_more() -> None:
    assert dense_cycles(64, 64, 64) < dense_cycles(64, 64, 128) < dense_cycles(64, 64, 128, cores=1)
    assert dense_cycles(64, 64, 64) < dense_cycles(64, 64, 64, "tflite")
    assert conv2d_cycles(64, 32, 32, (1, 1), direct=True) < conv2d_cycles(64, 32, 32, (3, 3))
    assert elementwise_cycles("hardswish", 1, 1000) < elementwise_cycles("gelu", 1, 1000)
    assert row_cycles("rms_norm", 8, 64) < row_cycles("rms_norm", 16, 64) < row_cycles("rms_norm", 16, 128)


def test_the_matrix_product_of_the_reference_is_near_its_bound() -> None:
    macs_per_cycle = 64**3 / dense_cycles(64, 64, 64)
    assert 14 < macs_per_cycle < 64 / 24 * 8
