"""Random calls of operators that order, sum up, or replace the entries of an axis."""

import numpy as np

from tests.qnn.cases_elementwise import shape
from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, integers, pick


def _few_values(rng: Rng) -> np.ndarray:
    """A tensor with many equal entries."""
    x = integers(rng, shape(rng), "int8") % 5
    return np.asarray(x.astype(str(pick(rng, ("int8", "uint8", "int32", "int64", "float32")))))


def top_k(rng: Rng) -> Case:
    x = _few_values(rng)
    axis = int(rng.integers(x.ndim))
    k, largest = int(rng.integers(1, x.shape[axis] + 1)), int(rng.random() < 0.5)
    dtype = str(pick(rng, ("int32", "int64")))
    return Case("top_k", {"axis": axis, "k": k, "largest": largest, "dtype": dtype}, [x])


def take_along(rng: Rng) -> Case:
    x = _few_values(rng)
    axis = int(rng.integers(x.ndim))
    dims = (*x.shape[:axis], int(rng.integers(1, 6)), *x.shape[axis + 1 :])
    places = rng.integers(0, x.shape[axis], dims).astype(str(pick(rng, ("int32", "int64"))))
    return Case("take_along", {"axis": axis}, [x, places])


def cumulative_sum(rng: Rng) -> Case:
    x = integers(rng, shape(rng), "int16").astype(str(pick(rng, ("int32", "int64", "float32"))))
    exclusive, reverse = (int(rng.random() < 0.5) for _ in range(2))
    return Case("cumulative_sum", {"axis": int(rng.integers(x.ndim)), "exclusive": exclusive, "reverse": reverse}, [x])


def scatter(rng: Rng) -> Case:
    rows, width, count = (int(n) for n in rng.integers(1, (30, 5, 12)))
    dtype, reduction = str(pick(rng, ("int32", "float32"))), str(pick(rng, ("none", "add", "mul", "min", "max")))
    # Places repeat, and some lie outside.
    places = rng.integers(-2, rows + 2, count).astype(str(pick(rng, ("int32", "int64"))))
    x, updates = (rng.integers(-5, 6, (n, width)).astype(dtype) for n in (rows, count))
    return Case("scatter", {"reduction": reduction}, [x, places, updates])


def non_max_suppression(rng: Rng) -> Case:
    batches, labels, count = (int(n) for n in rng.integers(1, (3, 4, 14)))
    # Boxes on a grid: areas and quotients are exact, many scores are equal, some boxes are empty.
    boxes = rng.integers(0, 6, (batches, count, 4)).astype(np.float32)
    scores = (rng.integers(0, 8, (batches, labels, count)) / 8).astype(np.float32)
    attributes = {
        "centred": int(rng.random() < 0.5), "limit": int(rng.integers(1, count + 1)),
        "overlap": float(pick(rng, (0.0, 0.25, 0.5))), "score": float(pick(rng, (-1.0, 0.25))),
    }  # fmt: skip
    return Case("non_max_suppression", attributes, [boxes, scores])


def chosen_boxes(rng: Rng) -> Case:
    dims = tuple(int(n) for n in rng.integers(1, 6, 3))
    counts = rng.integers(0, dims[2] + 1, dims[:2])
    numbers = np.where(np.arange(dims[2]) < counts[..., None], rng.integers(0, 50, dims), -1)
    return Case("chosen_boxes", {}, [numbers.astype(np.int32)])


CASES = {
    "top_k": top_k,
    "take_along": take_along,
    "cumulative_sum": cumulative_sum,
    "scatter": scatter,
    "non_max_suppression": non_max_suppression,
    "chosen_boxes": chosen_boxes,
}
