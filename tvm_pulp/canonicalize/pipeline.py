"""The canonicalization pipeline, in order."""

from typing import Any

from tvm_pulp.canonicalize.along_axis import AlongAxis
from tvm_pulp.canonicalize.byte_functions import ByteFunctions
from tvm_pulp.canonicalize.call_after_nodes import CallAfterNodes
from tvm_pulp.canonicalize.dead_channels import DeadChannels
from tvm_pulp.canonicalize.drop_identity import DropIdentity
from tvm_pulp.canonicalize.explicit_padding import ExplicitPadding
from tvm_pulp.canonicalize.float_tables import FloatTables
from tvm_pulp.canonicalize.float_to_nchw import FloatToNchw
from tvm_pulp.canonicalize.fold_scalars import FoldScalars
from tvm_pulp.canonicalize.fold_transposes import FoldTransposes
from tvm_pulp.canonicalize.fuse_attention import FuseAttention
from tvm_pulp.canonicalize.fuse_gathers import FuseGathers
from tvm_pulp.canonicalize.fuse_heads import FuseHeads
from tvm_pulp.canonicalize.fuse_lookups import FuseLookups
from tvm_pulp.canonicalize.fuse_qdq_attention import FuseQdqAttention
from tvm_pulp.canonicalize.fuse_qdq_rope import FuseQdqRope
from tvm_pulp.canonicalize.fuse_requantize import FuseRequantize
from tvm_pulp.canonicalize.integer_layers import IntegerLayers
from tvm_pulp.canonicalize.integer_products import IntegerProducts
from tvm_pulp.canonicalize.no_norms import NoNorms
from tvm_pulp.canonicalize.qdq import FoldQdq
from tvm_pulp.canonicalize.qdq_arithmetic import OnnxArithmetic, TfliteArithmetic
from tvm_pulp.canonicalize.qdq_products import QdqProducts
from tvm_pulp.canonicalize.repeated_rows import RepeatedRows
from tvm_pulp.canonicalize.short_rounding import ShortRounding
from tvm_pulp.canonicalize.to_nhwc import ToNhwc
from tvm_pulp.canonicalize.unreachable_ties import UnreachableTies
from tvm_pulp.canonicalize.whole_splits import WholeSplits
from tvm_pulp.frontend.imported import Imported


def passes_of(dialect: str) -> list[Any]:
    """Passes for modules of a dialect, in order; what is float altogether keeps most of its operators."""
    by_dialect: dict[str, list[Any]] = {
        "pulp": [
            ToNhwc(),
            DropIdentity(),
            NoNorms(),
            FuseRequantize(),
            FoldTransposes(),
            ByteFunctions(),
            FuseAttention(),
            FuseLookups(),
            ExplicitPadding(),
        ],
        "tflite": [
            FoldQdq(TfliteArithmetic()),
            FloatToNchw(),
            DeadChannels(),
            DropIdentity(),
            ByteFunctions(),
            ShortRounding(),
            ExplicitPadding(),
        ],
        "qdq": [
            FoldScalars(dequantized=False),
            FoldQdq(OnnxArithmetic()),
            IntegerLayers(OnnxArithmetic()),
            FloatTables(OnnxArithmetic()),
            FoldScalars(dequantized=True),
            ToNhwc(),
            DropIdentity(),
            FoldTransposes(),
            FuseGathers(),
            ByteFunctions(),
            FuseQdqRope(),
            FuseQdqAttention(),
            FuseLookups(),
            UnreachableTies(),
            QdqProducts(),
            ExplicitPadding(),
        ],
    }
    last = (RepeatedRows(), CallAfterNodes())
    return [WholeSplits(), AlongAxis(), IntegerProducts(), *by_dialect.get(dialect, []), *last]


def canonicalize(imported: Imported, *, whole_attention: bool = True) -> Any:
    """The module in canonical form: integer dialect, NHWC, one operator per layer.

    Without `whole_attention` its scores, softmax and values stay operators of their own: none of them needs all keys
    and values of a head at once.
    """
    module = imported.module
    for step in passes_of(imported.dialect):
        if whole_attention or not isinstance(step, FuseHeads):
            module = step.run(module)
    return module
