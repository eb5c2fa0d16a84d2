"""Operators of model files that frontends know, asked of the frontends' own tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FormatOperators:
    """Operators of one kind of model file, and what becomes of them."""

    title: str
    note: str
    names: tuple[str, ...]


def format_operators() -> list[FormatOperators]:
    """All formats; within one, operators in alphabetical order."""
    return [*_onnx(), *_tflite(), *_torch(), *_stablehlo()]


def _onnx() -> list[FormatOperators]:
    from tvm.relax.frontend.onnx.onnx_frontend import _get_convert_map

    from tvm_pulp.frontend import onnx_dialect, onnx_quantized_operators
    from tvm_pulp.frontend.onnx_importer import known_operators
    from tvm_pulp.frontend.onnx_recurrent import RECURRENT
    from tvm_pulp.frontend.onnx_standard import NO_C

    quantized = onnx_quantized_operators.CONVERTERS.keys() - _get_convert_map()
    plain = {*known_operators(), *RECURRENT} - quantized - NO_C
    return [
        FormatOperators(
            "ONNX",
            "Float as they are; between DequantizeLinear and QuantizeLinear integers where the next section says so. "
            "Opsets and attributes are those of TVM's importer. LSTM, GRU and RNN are unrolled. "
            "TopK, NonMaxSuppression, Compress and OneHot need a constant that says how large their result is; rows of "
            "NonMaxSuppression that no box takes hold -1.",
            tuple(sorted(plain)),
        ),
        FormatOperators(
            "ONNX, quantized operators",
            "Operators that hold scales themselves, of the standard and of onnxruntime's quantizer (`com.microsoft`).",
            tuple(sorted(quantized)),
        ),
        FormatOperators(
            "ONNX, integer PULP dialect",
            "Graphs that declare floats and hold integers; the types of inputs come from `--input-types` or samples.",
            tuple(sorted(onnx_dialect.CONVERTERS)),
        ),
        FormatOperators(
            "ONNX, refused",
            "No form in C, or no fixed size unless operands are constant.",
            tuple(sorted(NO_C)),
        ),
    ]


def _tflite() -> list[FormatOperators]:
    from tvm import relax
    from tvm.relax.frontend.tflite.tflite_frontend import ExprTable

    from tvm_pulp.frontend.tflite_converter import TfliteConverter

    known = set(TfliteConverter(None, None, ExprTable(), relax.BlockBuilder()).convert_map)
    integer = TfliteConverter._SUPPORTED_QUANTIZED_OPS & known
    return [
        FormatOperators(
            "TFLite, quantized",
            "int8, uint8 and, for some, int16, with TFLite's own roundings (`docs/arithmetic.md`).",
            tuple(sorted(integer)),
        ),
        FormatOperators(
            "TFLite, float",
            "Converted by TVM's importer; what it cannot convert, or has no C, is refused by its name.",
            tuple(sorted(known - integer)),
        ),
    ]


def _torch() -> list[FormatOperators]:
    from tvm_pulp.frontend.torch_program.operators import OPERATORS

    return [
        FormatOperators(
            "PyTorch",
            "Of `torch.export`, with PT2E's quantization; others are replaced by what PyTorch defines them to be.",
            tuple(sorted(OPERATORS)),
        )
    ]


def _stablehlo() -> list[FormatOperators]:
    from tvm_pulp.frontend.stablehlo_program.translate import GROUPS, OPERATORS, STRUCTURE

    return [
        FormatOperators(
            "StableHLO",
            "Of JAX, Flax, Equinox, TensorFlow and Keras; calls are inlined, loops of known length are written out.",
            tuple(sorted({*OPERATORS, *STRUCTURE} - GROUPS)),
        )
    ]
