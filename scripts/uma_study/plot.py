"""Run time over the cost of a product, as SVG."""

from collections.abc import Mapping, Sequence

from tvm_pulp.report.svg import COLOURS, line, picture, text

_LEFT, _TOP, _WIDTH, _HEIGHT, _MARGIN = 60, 50, 520, 300, 170


def run_time_plot(
    costs: Sequence[int], times: Mapping[str, Sequence[float]], alone: Mapping[str, float], title: str
) -> str:
    """One line per network, and a dashed one at what the CPU takes alone; times in milliseconds."""
    highest = 1.05 * max(*(max(values) for values in times.values()), *alone.values())
    last = max(costs)

    def x(cost: float) -> float:
        return _LEFT + _WIDTH * cost / last

    def y(time: float) -> float:
        return _TOP + _HEIGHT * (1 - time / highest)

    body = [line(_LEFT, _TOP, _LEFT, y(0)), line(_LEFT, y(0), _LEFT + _WIDTH, y(0))]
    for cost in costs:
        body += [line(x(cost), y(0), x(cost), y(0) + 4), text(x(cost), y(0) + 17, str(cost), anchor="middle")]
    step = _round_step(highest / 6)
    for tick in range(1, int(highest / step) + 1):
        body += [line(_LEFT - 4, y(tick * step), _LEFT, y(tick * step))]
        body += [text(_LEFT - 7, y(tick * step) + 4, f"{tick * step:g}", anchor="end")]
    body += [text(_LEFT + _WIDTH / 2, y(0) + 36, "cycles per MAC of QVanilla; 0: it takes no time", anchor="middle")]
    body += [text(_LEFT, _TOP - 8, "ms for one inference")]
    for colour, (network, values) in zip(COLOURS, times.items(), strict=False):
        places = [(x(cost), y(value)) for cost, value in zip(costs, values, strict=True)]
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        body.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in places]
        level = y(alone[network])
        dashes = f'stroke="{colour}" stroke-dasharray="5 4"'
        body.append(f'<line x1="{_LEFT}" y1="{level:.1f}" x2="{_LEFT + _WIDTH}" y2="{level:.1f}" {dashes}/>')
        body.append(text(_LEFT + _WIDTH + 8, y(values[-1]) + 4, f"{network} with QVanilla", colour=colour))
        body.append(text(_LEFT + _WIDTH + 8, level + 4, f"{network}, CPU alone", colour=colour))
    return picture(title, _LEFT, _LEFT + _WIDTH + _MARGIN, _TOP + _HEIGHT + 50, body)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below."""
    power = 10.0 ** int(len(str(int(least))) - 1)
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least)
