"""Random numbers of the zoo: fixed for all time, and distributed as their names say."""

import numpy as np

from tvm_pulp.frontend.zoo.random_stream import RandomStream


def test_the_stream_of_a_key_is_fixed() -> None:
    assert RandomStream("network", 0, "tensor").integers(-100, 100, 8).tolist() == [-80, -81, 9, -26, -51, -89, 21, -55]


def test_keys_do_not_collide() -> None:
    first, second = (RandomStream("a", seed).normal(100) for seed in (1, 11))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, RandomStream("a1").normal(100))


def test_normal_distribution() -> None:
    values = RandomStream("normal").normal(400, 500)
    assert values.shape == (400, 500)
    assert abs(values.mean()) < 0.01 and abs(values.std() - 1) < 0.01
    # Shares within one and two deviations, and the bounds of a sum of eight bytes.
    assert abs(np.mean(np.abs(values) < 1) - 0.683) < 0.01
    assert abs(np.mean(np.abs(values) < 2) - 0.954) < 0.01
    assert np.abs(values).max() < 4.9


def test_integers_include_both_ends() -> None:
    values, counts = np.unique(RandomStream("integers").integers(-2, 3, 60_000), return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2, 3]
    assert counts.min() > 9_500


def test_uniform_range() -> None:
    values = RandomStream("uniform").uniform(0.5, 1.5, 10_000)
    assert 0.5 <= values.min() < 0.51 and 1.49 < values.max() < 1.5
