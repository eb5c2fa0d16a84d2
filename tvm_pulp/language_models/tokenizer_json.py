"""The parts of a `tokenizer.json` that are read here: byte-pair encodings with a space mark."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class _Model(_Open):
    vocab: dict[str, Annotated[int, Field(ge=0, lt=1 << 31)]]
    merges: list[
        Annotated[list[str], Field(min_length=2, max_length=2)] | Annotated[str, Field(pattern="^[^ ]+ [^ ]+$")]
    ]


class _Added(_Open):
    id: int
    special: bool


class _Special(_Open):
    ids: list[int]


class _End(_Open):
    """The beginning of every text: special tokens."""

    special_tokens: dict[str, _Special] = Field(default_factory=dict)
    single: list[dict[str, dict[str, Any]]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> "_End":
        named = [part["SpecialToken"].get("id") for part in self.single if "SpecialToken" in part]
        if any(name not in self.special_tokens for name in named):
            raise ValueError("it names a special token that is none")
        return self


class _Space(_Open):
    replacement: Annotated[str, Field(min_length=1, max_length=1)]


class _Marks(_Open):
    pretokenizers: list[Any]

    @model_validator(mode="after")
    def _check(self) -> "_Marks":
        _Space.model_validate(self.pretokenizers[0])
        return self


class MergingJson(_Open):
    """The parts of a file that `MergingTokenizer` reads."""

    model: _Model
    added_tokens: list[_Added]
    pre_tokenizer: _Marks | _Space
    post_processor: _End | None = None
