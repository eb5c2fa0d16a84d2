"""Names of layers of a TFLite file."""

import re


def layer_name(tensor: str) -> str:
    """The name of a layer, after the tensor it makes.

    Converters join the names of fused operators with semicolons; the first is that of the last operator. Keras puts the
    model's name before each.
    """
    parts = re.sub(r"[^\w/]+", "_", tensor.split(";")[0], flags=re.ASCII).strip("_/").split("/")
    name = "_".join(parts[1:] if len(parts) > 2 else parts)
    return f"v_{name}" if not name or name[0].isdigit() else name
