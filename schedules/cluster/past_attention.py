"""Attention over a cache, at once or of one token in three parts. Heads, or queries, are split where L1 is small."""

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Tensor, TileAxis, schedule
from schedules.kernel_cycles import Work, share, words, work
from tvm_pulp.qnn.past_attention import HeadsAttributes, PastLogitAttributes, PastMeanAttributes
from tvm_pulp.uma.recipe import Pointer

_LARGEST_HEAD = 64


def _size(layer: Layer) -> int:
    """Elements of a head."""
    columns, heads = layer.outputs[0].spec.shape[1], int(HeadsAttributes.of(layer).heads)
    if layer.operator == "past_mix":
        return columns - 2
    return (layer.inputs[0].spec.shape[1] if layer.operator == "past_scores" else columns) // heads


def _divides(keys: int) -> bool:
    """Tell whether the kernels' short reciprocal divides sums over so many keys exactly."""
    return 511 * 255 * keys < 1 << 27


def applies_parts(layer: Layer) -> bool:
    """Heads of whole words, logits that fit 32 bits."""
    size = _size(layer)
    return bool(
        size % 4 == 0
        and size <= _LARGEST_HEAD
        and PastLogitAttributes.of(layer).shift >= 1
        and size * 128 * 128 * abs(PastLogitAttributes.of(layer).mul) < 1 << 30
    )


def applies(layer: Layer) -> bool:
    """Heads of whole words, logits that fit 32 bits, means that the kernel's short reciprocal divides exactly."""
    keys, table = layer.inputs[3].spec.shape[0] + layer.inputs[0].spec.shape[0], layer.inputs[6].data
    return bool(applies_parts(layer) and _divides(keys) and table is not None and table.reshape(-1)[0] == 255)


def applies_mean(layer: Layer) -> bool:
    """Heads of whole words, means that the kernel's short reciprocal divides exactly."""
    return _size(layer) % 4 == 0 and _divides(int(PastMeanAttributes.of(layer).key_count))


class PastKernel(KernelForm):
    """The common part of all of them; results have a row per head."""

    @property
    def size(self) -> int:
        return _size(self.layer)

    @property
    def group(self) -> int:
        """Heads that share keys and values."""
        return int(HeadsAttributes.of(self.layer).heads) // int(HeadsAttributes.of(self.layer).kv_heads)

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0, self.group),)

    def heads(self, box: Box) -> tuple[int, int]:
        """First and number of the heads of a part."""
        return box.start[0], box.size[0]

    def columns(self, call: Arguments, name: str, tensor: Tensor, box: Box, shared: int = 1) -> Fields:
        """The columns of a part's heads, or of what `shared` of them have in common."""
        first, heads = (number // shared * self.size for number in self.heads(box))
        return {name: call.load(name, tensor, Box((0, first), (tensor.spec.shape[0], heads)))}

    def past(self, call: Arguments, name: str, tensor: Tensor, box: Box, together: int = 1) -> tuple[Pointer, int]:
        """The columns of a cache whose words hold so many positions of an element, and how far its rows are apart."""
        first, heads = (number // self.group * self.size * together for number in self.heads(box))
        apart = tensor.spec.shape[1] if tensor.storage.level == "l1" else heads
        return call.in_place(name, tensor, Box((0, first), (tensor.spec.shape[0], heads))), apart

    def keys(self, call: Arguments, tensor: Tensor, box: Box) -> Fields:
        """The columns of a cache of keys."""
        return dict(zip(("past_k", "past_stride"), self.past(call, "past_k", tensor, box), strict=True))

    def values(self, call: Arguments, tensor: Tensor, box: Box, columns: int) -> Fields:
        """The columns of a cache of values; a position has `columns`."""
        together = tensor.spec.shape[1] // columns
        pointer, apart = self.past(call, "past_v", tensor, box, together)
        return {"past_v": pointer, "value_stride": apart}

    def counted(self, call: Arguments, box: Box, length: Tensor, table: Tensor | None = None) -> Fields:
        """How many rows count, the table of exponentials, and sizes."""
        found: Fields = {"length": call.load_whole("length", length)}
        if table is not None:
            found["exponential"] = call.load_whole("table", table)
        return found | self.sizes(box)

    def sizes(self, box: Box) -> Fields:
        return {"heads": self.heads(box)[1], "group": self.group, "size": self.size}


class HeadColumnsKernel(PastKernel):
    """Results with the heads side by side in a row."""

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1, self.size * self.group),)

    def heads(self, box: Box) -> tuple[int, int]:
        return box.start[1] // self.size, box.size[1] // self.size


@schedule("past_attention", applies)
class PastAttentionKernel(HeadColumnsKernel):
    def axes(self) -> tuple[TileAxis, ...]:
        return (*super().axes(), TileAxis(0))

    def fields(self, call: Arguments, box: Box) -> Fields:
        q, k, v, past_k, past_v, length, table = self.layer.inputs
        keys = past_k.spec.shape[0] + k.spec.shape[0]
        fields: Fields = {"q": call.load("q", q, box)}
        fields |= self.columns(call, "k", k, box, self.group) | self.columns(call, "v", v, box, self.group)
        fields |= self.keys(call, past_k, box) | self.values(call, past_v, box, v.spec.shape[1])
        fields["by_element"] = int(past_v.spec.shape[1] > v.spec.shape[1])
        fields |= self.counted(call, box, length, table) | call.scratch(
            6 * keys + 48, self.heads(box)[1] * -(-box.size[0] // 2)
        )
        # Plans are made for a cache that is half full.
        call.expected = {"keys": keys // 2}
        strides = {"q_stride": box.size[1], "k_stride": box.size[1] // self.group}
        return fields | {"queries": box.size[0], "first": box.start[0], **strides}


@schedule("past_scores", applies_parts)
class PastScoresKernel(PastKernel):
    def fields(self, call: Arguments, box: Box) -> Fields:
        q, past, length = self.layer.inputs
        capacity = past.spec.shape[0]
        call.expected = {"keys": capacity // 2}
        fields = self.columns(call, "q", q, box) | self.keys(call, past, box)
        return fields | self.counted(call, box, length) | {"capacity": capacity}


@schedule("past_mix", applies_parts)
class PastMixKernel(PastKernel):
    @property
    def function(self) -> str:
        k, past = self.layer.inputs[1], self.layer.inputs[3]
        return "past_mix_by_element" if past.spec.shape[1] > k.spec.shape[1] else self.structure

    def fields(self, call: Arguments, box: Box) -> Fields:
        q, k, scores, past, length, table = self.layer.inputs
        capacity, (first, heads) = scores.spec.shape[1] - 1, self.heads(box)
        call.expected = {"keys": capacity // 2}
        fields = self.columns(call, "q", q, box) | self.columns(call, "k", k, box, self.group)
        fields["scores"] = call.load("scores", scores, Box((first, 0), (heads, capacity + 1)))
        fields |= self.values(call, past, box, k.spec.shape[1]) | self.counted(call, box, length, table)
        return fields | call.scratch(2 * capacity + 4, heads) | {"capacity": capacity}


@schedule("past_mean", applies_mean)
class PastMeanKernel(HeadColumnsKernel):
    def fields(self, call: Arguments, box: Box) -> Fields:
        (mix, v), (first, heads) = self.layer.inputs, self.heads(box)
        fields: Fields = {"mix": call.load("mix", mix, Box((first, 0), (heads, self.size + 2)))}
        return fields | self.columns(call, "v", v, box, self.group) | self.sizes(box)


@work("past_attention")
def past_attention_work(f: Fields, cores: int) -> Work:
    """Queries of a head go in pairs. A call does not tell how many keys they see: plans state `keys` as expected."""
    queries = 2 * share(f["heads"] * -(-f["queries"] // 2), cores)
    new = f["first"] + f["queries"] / 2
    keys = f["keys"] if "keys" in f else int(f["length"][0]) + new
    work: Work = {"call": 1, "query": queries, "result": queries * words(f["size"]), "key": queries * keys}
    work["word"] = queries * keys * words(f["size"])
    if f["by_element"]:
        work["word"] = queries * min(keys, new) * words(f["size"])
        work["element_word"] = queries * max(0, keys - new) * words(f["size"])
    return work | (
        {"any_key": queries * keys, "any_word": queries * keys * words(f["size"])} if f["size"] != 32 else {}
    )


@work("past_scores")
def past_scores_work(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    keys = f["keys"] if "keys" in f else int(f["length"][0])
    kind = "" if f["size"] == 32 else "any_"
    work: Work = {"call": 1, "head": mine, "key": mine * keys, "rest": mine * (f["capacity"] - keys)}
    return {f"{kind}{name}": count for name, count in work.items()} | (
        {"any_word": mine * keys * words(f["size"])} if kind else {}
    )


@work("past_mix")
@work("past_mix_by_element")
def past_mix_work(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    keys = f["keys"] if "keys" in f else int(f["length"][0])
    work: Work = {"call": 1, "head": mine, "key": mine * keys, "eight": mine * (f["size"] // 8)}
    work["key_eight"] = keys * work["eight"]
    return work | ({"key_four": mine * keys} if f["size"] % 8 else {})


@work("past_mean")
def past_mean_work(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    return {"call": 1, "head": mine, "element": mine * f["size"]}
