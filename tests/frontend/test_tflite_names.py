"""Names of layers of a TFLite file."""

import pytest

from tvm_pulp.frontend.tflite_converter import layer_name


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        ("functional_1/activation/Relu;functional_1/batch_normalization/FusedBatchNormV3", "activation_Relu"),
        ("model/block/conv/BiasAdd", "block_conv_BiasAdd"),
        ("dense/MatMul", "dense_MatMul"),
        ("Identity", "Identity"),
        ("StatefulPartitionedCall:0", "StatefulPartitionedCall_0"),
        ("1/2", "v_1_2"),
        ("", "v_"),
        (";/", "v_"),
    ],
)
def test_names_of_layers(tensor: str, name: str) -> None:
    assert layer_name(tensor) == name
