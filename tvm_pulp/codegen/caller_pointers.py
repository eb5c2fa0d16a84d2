"""Pointers of the caller that a debug build looks at before anything runs: the first wrong one is named."""

from tvm_pulp.codegen.model_text import safe
from tvm_pulp.codegen.run_function import ends
from tvm_pulp.qnn.network import Network

# Of inputs and outputs on a cluster, whatever their elements: its DMA and its engines take words.
CLUSTER_ALIGNMENT = 4
_CODE = "WRONG_POINTER"


def wrong_pointer_code(name: str) -> str:
    """The entry of the interface's list of what the run function returns."""
    about = "an input or output is a null pointer or not aligned; nothing ran"
    return f"TVMGEN_{name.upper()}_{_CODE} = -3 /* {about}: tvm_pulp_debug_report */"


def pointer_checks(network: Network, alignment: int | None = None) -> list[str]:
    """Statements at the entry of the run function; without an alignment that of the elements' type."""
    asked: list[str] = []
    for role, tensors in ends(network).items():
        if tensors:
            asked.append(f'tvm_pulp_debug_pointer({role}, (uint32_t)sizeof(void *), "the structure of {role}")')
        for member, tensor in tensors.items():
            if tensor.spec.bytes:
                least, what = alignment or tensor.spec.itemsize, f"{role[:-1]} {safe(tensor.source or member)}"
                asked.append(f'tvm_pulp_debug_pointer({role}->{member}, {least}u, "{what}")')
    if not asked:
        return []
    joined = " ||\n      ".join(asked)
    return [f"  if ({joined}) {{", f"    return TVMGEN_{network.name.upper()}_{_CODE};", "  }"]
