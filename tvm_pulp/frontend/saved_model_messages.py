"""The parts of a SavedModel's protocol buffers that say which operators it holds and where functions are called.

They are declared here, so that a file can be checked before TensorFlow is imported. Parts that are not declared are
kept as they are when a message is written again.
"""

from functools import cache
from typing import Any

_STRING, _MESSAGE = 9, 11
# Messages: their fields as number, type (a message's name or none for a text) and whether there are many.
_FIELDS: dict[str, dict[str, tuple[int, str, bool]]] = {
    "SavedModel": {"meta_graphs": (2, "MetaGraph", True)},
    "MetaGraph": {
        "graph_def": (2, "Graph", False),
        "saver_def": (3, "Saver", False),
        "collection_def": (4, "CollectionEntry", True),
        "signature_def": (5, "SignatureEntry", True),
        "object_graph_def": (7, "ObjectGraph", False),
    },
    "Graph": {"node": (1, "Node", True), "library": (2, "Library", False)},
    "Library": {"function": (1, "Function", True)},
    "Function": {"signature": (1, "Signature", False), "node_def": (3, "Node", True)},
    "Signature": {"name": (1, "", False)},
    "Node": {"name": (1, "", False), "op": (2, "", False), "input": (3, "", True), "attr": (5, "AttributeEntry", True)},
    "AttributeEntry": {"key": (1, "", False), "value": (2, "Attribute", False)},
    "Attribute": {"list": (1, "AttributeList", False), "func": (10, "Called", False)},
    "AttributeList": {"func": (9, "Called", True)},
    "Called": {"name": (1, "", False), "attr": (2, "AttributeEntry", True)},
    "Saver": {
        "filename_tensor_name": (1, "", False),
        "save_tensor_name": (2, "", False),
        "restore_op_name": (3, "", False),
    },
    "CollectionEntry": {"key": (1, "", False), "value": (2, "Collection", False)},
    "Collection": {"node_list": (1, "Names", False)},
    "Names": {"value": (1, "", True)},
    "SignatureEntry": {"key": (1, "", False), "value": (2, "Call", False)},
    "Call": {"outputs": (2, "OutputEntry", True)},
    "OutputEntry": {"key": (1, "", False), "value": (2, "Output", False)},
    "Output": {"name": (1, "", False)},
    "ObjectGraph": {"concrete_functions": (2, "FunctionEntry", True)},
    "FunctionEntry": {"key": (1, "", False)},
}


@cache
def saved_model_class() -> Any:
    """The class of a SavedModel's message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    # Apart from TensorFlow's own pool, which may be in the same process.
    file = descriptor_pb2.FileDescriptorProto(name="saved_model_parts.proto", package="parts", syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, many) in fields.items():
            message.field.add(
                name=field,
                number=number,
                label=3 if many else 1,
                type=_MESSAGE if kind else _STRING,
                type_name=f".parts.{kind}" if kind else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("parts.SavedModel"))
