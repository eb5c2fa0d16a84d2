"""The golden networks of Deeploy: which there are, how to read one, how close an answer must be.

Names are folders below `deeploy` in the golden data, listed here so that a missing file is a failing test and a missing
folder shows how much was skipped.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

BIT_EXACT = (
    "Kernels/Integer/Add/MultIO",
    "Kernels/Integer/Add/Regular",
    "Kernels/Integer/Add/Regular_RQ",
    "Kernels/Integer/Attention",
    "Kernels/Integer/Concat",
    "Kernels/Integer/Conv/DW_1D",
    "Kernels/Integer/Conv/DW_2D_RQ",
    "Kernels/Integer/Conv/DW_3x3",
    "Kernels/Integer/Conv/DW_3x3_RQ",
    "Kernels/Integer/Conv/PW_2D",
    "Kernels/Integer/Conv/PW_2D_RQ/Regular_RQ",
    "Kernels/Integer/Conv/Regular_1D",
    "Kernels/Integer/Conv/Regular_1D_RQ",
    "Kernels/Integer/Conv/Regular_2D",
    "Kernels/Integer/Conv/Regular_3x3",
    "Kernels/Integer/Conv/Regular_3x3_RQ",
    "Kernels/Integer/GEMM/Batch_RQ",
    "Kernels/Integer/GEMM/Regular",
    "Kernels/Integer/GEMM/Regular_RQPerColumn",
    "Kernels/Integer/GEMM/Regular_RQPerRow",
    "Kernels/Integer/Hardswish/Regular",
    "Kernels/Integer/Identity/InputIdentity",
    "Kernels/Integer/Identity/MultiOutputIdentity",
    "Kernels/Integer/MatMul/Add",
    "Kernels/Integer/MatMul/Regular",
    "Kernels/Integer/MatMul/Regular_RQ",
    "Kernels/Integer/MaxPool/Regular_2D",
    "Kernels/Integer/Pad/Regular_1D",
    "Kernels/Integer/RMSNorm",
    "Kernels/Integer/ReduceMean",
    "Kernels/Integer/ReduceSum",
    "Kernels/Integer/Slice",
    "Kernels/Integer/Softmax/Regular",
    "Kernels/Integer/Sub",
    "Kernels/Integer/TrueIntegerDiv",
    "Kernels/Integer/iNoNorm",
    "Kernels/Mixed/Quant",
    "Models/CCT/Int/ICCT",
    "Models/CCT/Int/ICCT_ITA",
    "Models/CNN_Linear1",
    "Models/MLPerf/AnomalyDetection",
    "Models/MLPerf/ImageClassification",
    "Models/MLPerf/KeywordSpotting",
    "Models/MLPerf/VisualWakeWords",
    "Models/microLlama/INT8/microLlama1",
    "Models/microLlama/INT8/microLlama128",
    "Models/microLlama/INT8/microLlama16_parallel",
    "Models/microLlama/INT8/microLlama64",
    "Models/microLlama/INT8/microLlama64_parallel",
    "Models/miniMobileNet",
    "Models/miniMobileNetv2",
    "Others/TypeInference",
)

DEQUANTIZED = (
    "Kernels/Mixed/Dequant",
    "Models/Transformer_DeepQuant",
)

FLOAT = (
    "Kernels/FP32/Add/Regular",
    "Kernels/FP32/Conv/DW_2D_Bias",
    "Kernels/FP32/Conv/Regular_2D_Bias",
    "Kernels/FP32/Div/Regular",
    "Kernels/FP32/GELU",
    "Kernels/FP32/GEMM/TransB",
    "Kernels/FP32/Hardswish",
    "Kernels/FP32/LayerNorm",
    "Kernels/FP32/MatMul",
    "Kernels/FP32/MaxPool/Regular_2D",
    "Kernels/FP32/RMSNorm/single_fused_op",
    "Kernels/FP32/ReLU",
    "Kernels/FP32/ReduceMean/KeepDims/Axes1_2_3",
    "Kernels/FP32/Softmax/Regular",
    "Kernels/FP32/Transpose",
    "Models/CCT/FP32/CCT_1_16_16_8",
)

CASES = (*BIT_EXACT, *DEQUANTIZED, *FLOAT)


@dataclass(frozen=True)
class Case:
    """One network with an input and the answer, arrays in graph order under names that need not be the graph's."""

    name: str
    network: Path
    inputs: list[tuple[str, np.ndarray]]
    outputs: list[np.ndarray]

    def check(self, results: list[np.ndarray]) -> None:
        """Compare every element of every output, as closely as the data's own description asks for."""
        assert len(results) == len(self.outputs)
        for result, expected in zip(results, self.outputs, strict=True):
            assert result.shape == expected.shape
            if self.name in BIT_EXACT:
                np.testing.assert_array_equal(result, expected)
                continue
            largest = float(np.abs(expected).max(initial=0))
            allowed = 1e-5 if self.name in DEQUANTIZED else max(1e-4, 1e-5 * largest)
            np.testing.assert_allclose(result, expected, rtol=0, atol=allowed)


def read_case(golden_data: Path, name: str) -> Case:
    """Read the three files of a case."""
    folder = golden_data / "deeploy" / name
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as outputs:
        given = [(key, inputs[key]) for key in inputs.files]
        return Case(name, folder / "network.onnx", given, [outputs[key] for key in outputs.files])
