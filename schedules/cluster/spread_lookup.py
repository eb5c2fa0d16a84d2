"""Functions of one byte on hundreds of cores in tiles: where the table lies is a matter of cost.

One table lies in a few banks, for which all cores wait. Tables that go once round all banks take more bytes and a
longer transfer, and each is read by a few cores only.
"""

import numpy as np

from schedules.byte_tables import LUT_ENTRIES
from schedules.cluster.base import Arguments, Box, Fields, Schedule, register
from schedules.cluster.elementwise import LookupKernel, function_of_byte, is_byte_table

# Of a bank.
_WORD = 4


class OneTableKernel(LookupKernel):
    kernel, label = "spread_lookup", "lookup kernel"

    @property
    def tables(self) -> int:
        return 1

    def fields(self, call: Arguments, box: Box) -> Fields:
        tables = call.load_constant("table", np.tile(self.table().reshape(-1), self.tables))
        x = call.load("x", self.layer.inputs[0], box)
        return {"x": x, "table": tables, "count": box.elements, "tables": self.tables}


class SpreadLookupKernel(OneTableKernel):
    label = "lookup kernel, tables round all banks"

    @property
    def tables(self) -> int:
        return _WORD * self.costs.soc.memory.l1.banks // LUT_ENTRIES

    @property
    def is_offered(self) -> bool:
        """Tell whether one table leaves banks without any."""
        return self.tables > 1


for _operator in ("requantize", "hardswish", "gelu", "integer_div", "lookup"):
    _applies = is_byte_table if _operator == "lookup" else function_of_byte
    register(_operator, Schedule(_applies, SpreadLookupKernel), Schedule(_applies, OneTableKernel, is_smaller=True))
