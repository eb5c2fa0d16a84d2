"""New rows of values for a cache with four positions of an element in a word. Columns are split where L1 is small."""

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.qnn.value_groups import TOGETHER, groups_of


def applies(layer: Layer) -> bool:
    """Rows of whole words."""
    return layer.inputs[0].spec.shape[1] % 4 == 0


@schedule("value_groups", applies)
class ValueGroupsKernel(KernelForm):
    cut = (TileAxis(1, 4 * TOGETHER),)

    def fields(self, call: Arguments, box: Box) -> Fields:
        v, group, length = self.layer.inputs
        # Plans are made for prompts that begin where a word does.
        call.expected = {"known": 0}
        first, columns = box.start[1] // TOGETHER, box.size[1] // TOGETHER
        return {
            "v": call.load("v", v, Box((0, first), (v.spec.shape[0], columns))),
            "group": call.load("group", group, Box((0, box.start[1]), (1, box.size[1]))),
            "length": call.load_whole("length", length), "rows": v.spec.shape[0], "columns": columns,
        }  # fmt: skip


@work("value_groups")
def value_groups_work(f: Fields, cores: int) -> Work:
    """Groups with rows of the cache or behind the last row byte by byte, the others turned."""
    mine, rows = share(f["columns"] // 4, cores), f["rows"]
    known = f["known"] if "known" in f else int(f["length"][0]) % TOGETHER
    turned = max(0, (known + rows) // TOGETHER - (known > 0))
    single, bytes_ = groups_of(rows) - turned, known + rows - TOGETHER * turned
    return {"call": 1, "column": mine, "turned": mine * turned, "single": mine * single, "byte": mine * bytes_}
