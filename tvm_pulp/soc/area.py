"""Silicon area of a SoC: its parameters times the coefficients of its description."""

import math

from tvm_pulp.errors import refuse_if
from tvm_pulp.soc.description import Soc

_KIB = 1024


def soc_area(soc: Soc) -> tuple[float | None, str | None]:
    """Square millimetres and where the coefficients come from; None when a coefficient is missing."""
    a = soc.area
    terms = [
        (1, a.fixed),
        (soc.harts, a.core),
        (soc.memory.l1.size / _KIB, a.l1_kib),
        (soc.memory.l2.size / _KIB, a.l2_kib),
        (soc.memory.weight.size / _KIB, a.weight_kib),
        (soc.dma.bytes_per_cycle, a.dma_byte_per_cycle),
    ]
    for name, engine in soc.engines.items():
        if name not in a.engines:
            return None, None
        for product, coefficient in a.engines[name].items():
            terms.append((_product(soc, name, product, engine.parameters), coefficient))
    if any(count and coefficient is None for count, coefficient in terms):
        return None, None
    return sum(count * (coefficient or 0.0) for count, coefficient in terms), a.source


def _product(soc: Soc, engine: str, product: str, parameters: dict[str, int]) -> int:
    """The value of a term such as `rows*columns`."""
    names = [name.strip() for name in product.split("*")]
    for name in names:
        refuse_if(
            name not in parameters,
            f"SoC {soc.name}: area.engines.{engine} names '{name}', which is none of the engine's parameters: "
            f"it has {', '.join(parameters) or 'none'}",
        )
    return math.prod(parameters[name] for name in names)
