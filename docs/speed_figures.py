"""The figures and tables of docs/speed.md, from the measurements in docs/data; called by `make_figures.py`."""

import csv
import re
from pathlib import Path

import numpy as np

from stiction.view.style import COLOURS, dress, new_figure

HERE = Path(__file__).parent
ENGINES = ("stiction", "MuJoCo", "PyBullet", "DART", "Drake")
PANELS = (("wall of 55", "at rest"), ("1000 spheres", "moving"), ("1000 spheres", "settled"))
QUANTITIES = (("residual", "residual of the contact law"), ("penetration_m", "penetration [m]"))
FLOOR = 1e-17  # where a zero is drawn
COMPUTED = ", every step computed"  # after the setting of runs in which steps that repeat are not merely counted


def read(name):
    """The rows of docs/data/NAME.csv, numbers as floats; empty where it was not measured."""
    path = HERE / "data" / f"{name}.csv"
    if not path.exists():
        return []

    def value(text):
        try:
            return float(text)
        except ValueError:
            return text

    with path.open(newline="") as file:
        return [{"median_s": "", **{key: value(text) for key, text in row.items()}} for row in csv.DictReader(file)]


def labels(rows, x, y):
    """(text, x, y) of settings; those whose marks lie on each other share a label."""
    placed = []
    for r, a, b in zip(rows, x, y):
        text = re.sub("tol |solver |iterations | True| detector .*|" + COMPUTED, "", r["setting"])
        near = next((p for p in placed if abs(np.log10(a / p[1])) < 0.25 and abs(np.log10(b / p[2])) < 0.3), None)
        if near is None:
            placed.append([text, a, b])
        elif text not in near[0].split(", "):
            near[0] += f", {text}"
    if len(placed) == 1 and len(rows) > 2:
        placed[0][0] = "every setting"
    return placed


def draw_peers(rows):
    """Time against residual and penetration, each engine at its settings: down and to the left is better.

    Of our runs at rest those in which every step is computed, as in the others.
    """
    computed = {r["scene"] for r in rows if r["setting"].endswith(COMPUTED)}
    rows = [
        r for r in rows
        if r["engine"] != "stiction" or r["scene"] not in computed or r["setting"].endswith(COMPUTED)
    ]  # fmt: skip
    figure = new_figure(11, 6.6)
    for column, (scene, phase) in enumerate(PANELS):
        for line, (quantity, label) in enumerate(QUANTITIES):
            axes = dress(
                figure.add_subplot(2, 3, 1 + column + 3 * line), x="CPU time per step [ms]",
                y=label if column == 0 else "", title=f"{scene}, {phase}" if line == 0 else "",
            )  # fmt: skip
            for colour, engine in zip(COLOURS, ENGINES):
                mine = [
                    r for r in rows
                    if (r["engine"], r["scene"], r["phase"]) == (engine, scene, phase) and known(r[quantity])
                ]  # fmt: skip
                mine.sort(key=lambda r: -r["residual"] if engine == "stiction" else r["cpu_s"])
                x, y = [1e3 * r["cpu_s"] for r in mine], [max(r[quantity], FLOOR) for r in mine]
                style = "o-" if engine == "stiction" else "s"
                axes.plot(x, y, style, color=colour, label=engine if len(x) else None, markersize=5, linewidth=1)
                for text, a, b in labels(mine, x, y):
                    off, side = ((0, 6), "center") if engine == "MuJoCo" else ((5, 3), "left")
                    axes.annotate(
                        text, (a, b), xytext=off, textcoords="offset points", fontsize=6, color=colour, ha=side
                    )
            times = [1e3 * r["cpu_s"] for r in rows if (r["scene"], r["phase"]) == (scene, phase)] or [1.0]
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.margins(y=0.12)
            axes.set_xlim(10 ** np.floor(np.log10(min(times))), 10 ** np.ceil(np.log10(max(times))))
            axes.xaxis.set_minor_formatter("")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    save(figure, "speed-peers")


def draw_growth(rows):
    """Time per step and memory per contact against the number of spheres."""
    figure = new_figure(9, 3.8)
    left = dress(figure.add_subplot(1, 2, 1), x="spheres", y="CPU time per step [ms]", title="tol 1e-3, one thread")
    right = dress(figure.add_subplot(1, 2, 2), x="spheres", y="bytes per contact", title="memory of a step")
    for pile in dict.fromkeys(r["pile"] for r in rows):
        mine = [r for r in rows if r["pile"] == pile]
        n = np.array([r["spheres"] for r in mine])
        t = 1e3 * np.array([r["cpu_s"] for r in mine])
        left.loglog(n, t, "o-", label=f"{pile}: exponent {slope(n, t):.2f}", markersize=4)
        right.semilogx(n, [r["bytes_per_contact"] for r in mine], "o-", label=pile, markersize=4)
    right.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8)
    right.legend(frameon=False, fontsize=8)
    save(figure, "speed-growth")


def slope(x, y):
    """The exponent of y against x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def known(value):
    """Whether a measurement was made."""
    return isinstance(value, float) and np.isfinite(value)


def short(value, form="{:.2g}"):
    """A number for a table, or a dash."""
    return form.format(value) if known(value) else "–"


def peers_table(rows):
    """Every engine and setting, by scene and phase."""
    lines = []
    for scene, phase in dict.fromkeys((r["scene"], r["phase"]) for r in rows):
        drift = "creep [m/s]" if "spheres" in scene else "drift [m]"
        head = f"| {scene}, {phase} | setting | CPU ms | median | wall ms | residual | penetration [m] | {drift} |"
        lines += ["", head, "|---|---|--:|--:|--:|--:|--:|--:|"]
        for r in rows:
            if (r["scene"], r["phase"]) == (scene, phase):
                mark = " *" if r["start"] == "ours" else ""
                times = (short(1e3 * r[name] if r[name] else "", "{:.3g}") for name in ("cpu_s", "median_s", "wall_s"))
                rest = (short(r[name]) for name in ("residual", "penetration_m", "drift"))
                lines.append(f"| {r['engine']}{mark} | {r['setting']} | " + " | ".join((*times, *rest)) + " |")
    return lines[1:]


def pick(rows, scene, phase, setting=None):
    """Our row of a setting, or the fastest of the others."""
    mine = [r for r in rows if (r["scene"], r["phase"]) == (scene, phase)]
    if setting is None:
        others = [r for r in mine if r["engine"] != "stiction"]
        return min(others, key=lambda r: r["cpu_s"], default=None)
    return next((r for r in mine if (r["engine"], r["setting"]) == ("stiction", setting)), None)


def aims_table(peers, growth, threads, solves):
    """What was aimed at, and what the measurements say."""
    lines = ["| aim | measured | reached |", "|---|---|---|"]

    def add(aim, measured, reached):
        lines.append(f"| {aim} | {measured} | {'yes' if reached else 'no'} |")

    solved = [r for r in peers if known(r["residual"])]  # the others' impulses explain their velocities
    for phase, factor in (("settled", 5), ("moving", 3)):
        ours = pick(peers, "1000 spheres", phase, "tol 0.001")
        for what, rows in (("that solves its own problem", solved), ("at any setting, stopped early or not", peers)):
            other = pick(rows, "1000 spheres", phase)
            if ours and other:
                ratio = other["cpu_s"] / ours["cpu_s"]
                depth = other["penetration_m"] / max(ours["penetration_m"], 1e-300)
                who = f"{other['engine']} ({other['setting']})"
                text = f"{ratio:.2g} times the speed of {who}"
                if known(ours["median_s"]) and known(other["median_s"]):
                    text += f" (by medians {other['median_s'] / ours['median_s']:.2g})"
                text += f", penetration {depth:.0f} times less"
                deep = phase == "moving" or depth >= 100
                more = ", with a hundredth of its penetration and residual ≤ 1e-3" if phase == "settled" else ""
                add(
                    f"1000 spheres, {phase}: {factor} times faster than the fastest other {what}{more}", text,
                    ratio >= factor and deep and ours["residual"] <= 1e-3,
                )  # fmt: skip
    standing = (("wall of 55", 1), ("tower of 10", 1), ("box", 5))
    for (scene, factor), how in ((scene, how) for scene in standing for how in ("", COMPUTED)):
        ours = pick(peers, scene, "at rest", f"tol 1e-08{how}")
        other = pick([r for r in peers if r["engine"] in ("stiction", "MuJoCo")], scene, "at rest")
        if ours and other:
            ratio = ours["cpu_s"] / other["cpu_s"]
            limit = "no slower than MuJoCo" if factor == 1 else f"within {factor} times MuJoCo's time"
            add(
                f"{scene} to 1e-8{how}, drift < 1e-6 m: {limit}",
                f"{1e3 * ours['cpu_s']:.3g} ms against {1e3 * other['cpu_s']:.3g} ms, drift {ours['drift']:.1g} m",
                ratio <= factor and ours["drift"] < 1e-6,
            )  # fmt: skip
    times = [t for t, rows in by_time(solves).items() if median(rows, "plain_after_200") >= 3e-4]
    hard = [r for r in solves if r["t_s"] in times]
    for what, rows in (
        ("at times when 200 plain sweeps leave 3e-4 or more, half of them (the aim says 1e-3)", hard),
        ("from 0.2 s on, the easy ones too", solves),
    ):
        if rows:
            found = ratios(rows)
            text = f"{np.median(found):.2g} times (median of {len(found)}; middle half {quarters(found)})"
            aim = f"`auto` 10 times faster than plain Gauss–Seidel to 1e-6, problems of the moving pile {what}"
            add(aim, text, np.median(found) >= 10)
    wide = [r for r in growth if r["pile"] == "constant depth"]
    if wide:
        p = slope([r["spheres"] for r in wide], [r["cpu_s"] for r in wide])
        add("time grows at most like spheres^1.1 at constant depth", f"{p:.2f}", p <= 1.1)
    for n in dict.fromkeys(r["spheres"] for r in threads):
        step = {r["threads"]: r["wall_s"] for r in threads if r["spheres"] == n and r["stage"] == "step"}
        add(f"two threads 1.6 times faster, {n:.0f} spheres", f"{step[1] / step[2]:.2f}", step[1] / step[2] >= 1.6)
    return lines


def by_time(rows):
    """Single solves by the time of the pile [s]."""
    return {t: [r for r in rows if r["t_s"] == t] for t in dict.fromkeys(r["t_s"] for r in rows)}


def median(rows, name):
    """Of one column."""
    return np.median([r[name] for r in rows])


def ratios(rows):
    """Plain Gauss–Seidel's time over that of `auto`, problem by problem."""
    return [r["plain_s"] / r["auto_s"] for r in rows]


def quarters(values):
    """The middle half of them."""
    low, high = np.quantile(values, (0.25, 0.75))
    return f"{low:.2g} to {high:.2g}"


def solves_table(rows):
    """Single solves of the moving piles, by time."""
    lines = [
        "| pile at | plain leaves after 200, 2000 sweeps | plain solves | plain, CPU ms | `auto` solves "
        "| `auto`, CPU ms | plain / `auto` | middle half |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for t, group in (*by_time(rows).items(), ("all", rows)):
        cells = [f"{median(group, 'plain_after_200'):.0e}, {median(group, 'plain_after_2000'):.0e}"]
        for solver in ("plain", "auto"):
            solved = sum(r[f"{solver}_residual"] <= 1e-6 for r in group)
            cells += [f"{solved} of {len(group)}", f"{1e3 * median(group, f'{solver}_s'):.3g}"]
        cells += [f"{np.median(ratios(group)):.3g}", quarters(ratios(group))]
        lines.append(f"| {t if t == 'all' else f'{t:g} s'} | " + " | ".join(cells) + " |")
    return lines


def growth_table(rows):
    """Every size."""
    lines = [
        "| pile | spheres | contacts | CPU ms | µs per contact | sweeps | residual | bytes per contact |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for r in rows:
        per = 1e6 * r["cpu_s"] / r["contacts"]
        cells = (f"{r['contacts']:.0f}", f"{1e3 * r['cpu_s']:.3g}", f"{per:.2f}", f"{r['sweeps']:.0f}")
        size = f"{r['residual']:.1e} | {r['bytes_per_contact']:.0f}"
        lines.append(f"| {r['pile']} | {r['spheres']:.0f} | " + " | ".join(cells) + f" | {size} |")
    return lines


def piles_table(rows):
    """Default runs, all seeds of a pile together."""
    lines = [
        "| pile | CPU s | slowest step [s] | between tol and accept | regularised | left [m/s] | left [N] "
        "| share of a weight | deepest overlap [mm] |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(r["pile"] for r in rows):
        mine = [r for r in rows if r["pile"] == name]
        steps = sum(r["steps"] for r in mine)
        most = {key: max(r[key] for r in mine) for key in ("slowest_s", "approach_m_s", "force_N", "share")}
        cells = (
            f"{median(mine, 'cpu_s'):.2g}", f"{most['slowest_s']:.2g}",
            f"{100 * sum(r['accepted'] for r in mine) / steps:.0f} %", f"{sum(r['regularised'] for r in mine):.0f}",
            f"{most['approach_m_s']:.1g}", f"{most['force_N']:.2g}", f"{100 * most['share']:.0f} %",
            f"{1e3 * max(r['penetration_m'] for r in mine):.1g}",
        )  # fmt: skip
        kind = re.fullmatch(r"(\D*)(\d+)", str(name).removesuffix(".0"))
        what = {"": "spheres", "mixed": "hulls and capsules"}.get(kind[1], kind[1])
        lines.append(f"| {kind[2]} {what} | " + " | ".join(cells) + " |")
    return lines


def threads_table(rows):
    """The stages of a step by the number of threads."""
    stages = list(dict.fromkeys(r["stage"] for r in rows))
    lines = ["| spheres | threads | " + " | ".join(f"{s} [ms]" for s in stages) + " | same bits |"]
    lines.append("|--:|--:|" + "--:|" * len(stages) + "---|")
    for n, threads in dict.fromkeys((r["spheres"], r["threads"]) for r in rows):
        mine = {r["stage"]: r for r in rows if (r["spheres"], r["threads"]) == (n, threads)}
        cells = " | ".join(f"{1e3 * mine[s]['wall_s']:.1f}" for s in stages)
        lines.append(
            f"| {n:.0f} | {threads:.0f} | {cells} | {'yes' if mine['step']['same_bits'] == 'True' else 'no'} |"
        )
    return lines


def save(figure, name):
    """Into docs/images."""
    figure.savefig(HERE / "images" / f"{name}.png", dpi=110)
    print(f"{name}.png")


def draw_speed():
    """Every figure and table whose measurements are there."""
    peers, growth, threads, solves = read("peers"), read("growth"), read("threads"), read("solves")
    piles = read("piles")
    tables = {"aims": aims_table(peers, growth, threads, solves)}
    if peers:
        draw_peers(peers)
        tables["peers"] = peers_table(peers)
    if solves:
        tables["solves"] = solves_table(solves)
    if growth:
        draw_growth(growth)
        tables["growth"] = growth_table(growth)
    if threads:
        tables["threads"] = threads_table(threads)
    if piles:
        tables["piles"] = piles_table(piles)
    page = HERE / "speed.md"
    text = page.read_text()
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: from data -->", f"<!-- end of {name} -->"
        block = "\n".join([begin, *lines, end])
        text = re.sub(f"{begin}.*{end}", lambda _, block=block: block, text, flags=re.DOTALL)
    page.write_text(text)
    print(page.name)
