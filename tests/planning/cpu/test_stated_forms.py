"""Option --decide on a CPU by itself: forms that a user states are kept, also where flash is left."""

import json
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError

WIDE, LOOPS = "blocked product, weights of 16 bits", "generated loops"


def test_stated_forms_are_kept() -> None:
    stated = {"layers": {"logits": {"form": LOOPS}, "stem": {"form": WIDE}, "block1_pointwise": {"form": LOOPS}}}
    app = tvm_pulp.compile("zoo:dscnn", soc="cortex-m4", decide=stated, flash="64k")
    forms = {layer["name"]: layer["form"] for layer in json.loads(app.files["plan.json"])["layers"]}
    assert {name: forms[name] for name in stated["layers"]} == {n: s["form"] for n, s in stated["layers"].items()}
    assert forms["block2_pointwise"] == WIDE, "there is flash for it"
    wanted = tvm_pulp.compile("zoo:dscnn").run().outputs
    for name, value in app.run().outputs.items():
        np.testing.assert_array_equal(value, wanted[name])


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"order": ["stem"]}, "--decide: order has no effect on --soc cortex-m4: drop it"),
        ({"layers": {"stem": {"tile": [1, 2]}}}, "layer 'stem': engine and tile have no effect on --soc cortex-m4"),
        ({"layers": {"nowhere": {"form": LOOPS}}}, "there is no layer 'nowhere': the layers are stem, "),
        (
            {"layers": {"stem": {"form": "attention"}}},
            "layer 'stem' has no form 'attention': choose one of blocked product, blocked product, weights",
        ),
    ],
)
def test_what_is_not_decided_here_is_named(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tvm_pulp.compile("zoo:dscnn", soc="cortex-m4", decide=stated)
