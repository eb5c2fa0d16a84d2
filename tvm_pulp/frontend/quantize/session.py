"""Models in onnxruntime, which is an extra."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError

Feeds = dict[str, np.ndarray]


def check_installed() -> None:
    """A user error that says what to install."""
    try:
        import onnxruntime.quantization  # noqa: F401
    except ImportError:
        raise UserError("quantize needs onnxruntime: pip install 'tvm_pulp[quantize]'") from None


def quiet_settings() -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    return settings


def run_model(model: Any, samples: Sequence[Mapping[str, np.ndarray]]) -> list[list[np.ndarray]]:
    """Outputs for every sample."""
    import onnxruntime

    settings = quiet_settings()
    # Joined operators would round otherwise than the standard says.
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    return [[np.asarray(o) for o in session.run(None, dict(sample))] for sample in samples]
