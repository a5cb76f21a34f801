"""Redraws the figures of the documentation, into docs/images.

python docs/make_figures.py              every experiment, example, profile, figure of speed, and the sets
python docs/make_figures.py profiles     the performance profiles and the table of docs/solvers.md alone
python docs/make_figures.py speed        the figures and tables of docs/speed.md alone
python docs/make_figures.py friction     the figure of docs/friction.md alone
python docs/make_figures.py film         the film of the README alone
python docs/make_figures.py plots        the figures of docs/plots.md alone
python docs/make_figures.py examples     the pictures of the examples alone
python docs/make_figures.py st96-rod     the figures and numbers of this experiment alone
python docs/make_figures.py gallery      the tables of docs/gallery.md alone
python docs/make_figures.py studies      the figures of the studies alone: many runs, not part of everything

The profiles are drawn from docs/data/solvers.csv, which `python benchmarks/profiles.py` measures; the figures of speed
from peers.csv, growth.csv and threads.csv there, which the benchmarks of these names write with --csv.
"""

import contextlib
import csv
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from friction_figures import draw_friction
from gallery_tables import write_data, write_tables
from speed_figures import draw_speed

from stiction.cli.new import starter
from stiction.papers import experiments
from stiction.scene import parse_scene
from stiction.solvers import SOLVERS
from stiction.view.plots import PRESETS
from stiction.view.profiles import draw_profile
from stiction.view.style import new_figure

HERE = Path(__file__).parent
IMAGES = HERE / "images"
SETS = {  # of docs/data/solvers.csv: the name of the figure, and what its problems are
    "FCLIB": ("solvers-fclib", "FCLIB problems"),
    "worlds": ("solvers-worlds", "steps of worlds"),
    "relaxed": ("solvers-relaxed", "steps, convex relaxation"),
}


def draw_experiments(names: list[str]) -> None:
    """Run these experiments, or every one; write their figures, their numbers and the tables of docs/gallery.md."""
    for name, experiment in experiments().items():
        if names and name not in names:
            continue
        print(name)
        outcome = experiment.run()
        write_data({name: outcome})
        for figure_name, figure in outcome.figures().items():
            path = IMAGES / f"{figure_name}.png"
            figure.savefig(path, dpi=110)
            print(f"  {path.name}")
    write_tables()


def draw_studies() -> None:
    """Run every study of the papers and write its figures."""
    for name, experiment in experiments().items():
        if experiment.study is not None:
            print(name)
            with contextlib.chdir(HERE / "data"):  # where the runs of studies that keep a table are
                outcome = experiment.study()
            for figure_name, figure in outcome.figures().items():
                figure.savefig(IMAGES / f"{figure_name}.png", dpi=110)
                print(f"  {figure_name}.png")


def measurements() -> list[dict[str, str]]:
    """The rows of docs/data/solvers.csv."""
    with (HERE / "data" / "solvers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def draw_profiles() -> None:
    """One figure per set of problems, a panel per tolerance."""
    rows = measurements()
    solvers = [name for name in SOLVERS if any(row["solver"] == name for row in rows)]
    for name, (picture, what) in SETS.items():
        mine = [row for row in rows if row["set"] == name]
        problems = list(dict.fromkeys(row["problem"] for row in mine))
        figure = new_figure(11, 5.2)
        for panel, tol in enumerate(sorted({row["tol"] for row in mine}, key=float, reverse=True)):
            best = {
                (row["problem"], row["solver"]): float(row["seconds"])
                for row in mine
                if row["tol"] == tol and row["success"] == "True"
            }
            times = {s: [best.get((p, s)) for p in problems] for s in solvers}
            axes = draw_profile(
                figure.add_subplot(1, 2, panel + 1), times, title=f"{len(problems)} {what}, residual ≤ {tol}"
            )
            axes.set_xlabel("τ: time, as a multiple of the fastest solver's on the same problem")
            axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=1)
        figure.savefig(IMAGES / f"{picture}.png", dpi=110)
        print(f"{picture}.png")


def write_table() -> None:
    """The tables of docs/solvers.md: every problem by `auto` to 1e-8."""
    page = HERE / "solvers.md"
    text = page.read_text()
    for name in SETS:
        lines = [
            "| problem | contacts | rows | W singular | finished by | residual | seconds |",
            "|---|--:|--:|---|---|--:|--:|",
        ]
        for row in measurements():
            if (row["set"], row["solver"], row["tol"]) != (name, "auto", "1e-08"):
                continue
            by = row["by"] if row["success"] == "True" else f"not solved ({row['status']})"
            cells = (row["problem"], row["contacts"], row["rows"], row["rank_deficient"] or "not known", by)
            lines.append("| " + " | ".join([*cells, row["residual"] or "–", row["seconds"] or "–"]) + " |")
        begin, end = f"<!-- {name}: from data/solvers.csv -->", f"<!-- end of {name} -->"
        text = re.sub(f"{begin}.*{end}", lambda _: "\n".join([begin, *lines, end]), text, flags=re.DOTALL)  # noqa: B023
    page.write_text(text)
    print(page.name)


def draw_film() -> None:
    """The tower of `stiction new` and the ball that is thrown at it."""
    scene = parse_scene(starter("tower"))
    run = scene.simulator().run(scene.duration)
    print(f"tower.gif: {run.film(IMAGES / 'tower.gif')} frames")


def draw_plots() -> None:
    """The run of docs/plots.md, by every preset."""
    page = (HERE / "plots.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0].partition("\nrun.plot(")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    run, some = names["run"], {"phase": ["ball", "box 0"], "impulses": "ball"}
    for preset in PRESETS:
        run.plot(preset, of=some.get(preset)).savefig(IMAGES / f"plots-{preset}.png", dpi=100)
        print(f"plots-{preset}.png")
    run.picture(0.3).savefig(IMAGES / "plots-picture.png", dpi=75)
    print("plots-picture.png")


def draw_examples() -> None:
    """The picture of each example that has one: `python examples/NAME.py picture.png`."""
    for path in sorted((HERE.parent / "examples").glob("*.py")):
        if "[picture.png]" in path.read_text():
            picture = IMAGES / f"{path.stem.replace('_', '-')}.png"
            subprocess.run([sys.executable, str(path), str(picture)], check=True)
            print(picture.name)


def main() -> None:
    """Everything, or the part that is named."""
    IMAGES.mkdir(exist_ok=True)
    parts = sys.argv[1:] or ["profiles", "speed", "friction", "film", "plots", "examples", "experiments"]
    if "profiles" in parts:
        draw_profiles()
        write_table()
    if "speed" in parts:
        draw_speed()
    if "friction" in parts:
        draw_friction()
    if "film" in parts:
        draw_film()
    if "plots" in parts:
        draw_plots()
    if "examples" in parts:
        draw_examples()
    if "studies" in parts:
        draw_studies()
    if "experiments" in parts:
        draw_experiments([])
    elif named := [part for part in parts if part in experiments()]:
        draw_experiments(named)
    if "gallery" in parts:
        write_tables()


if __name__ == "__main__":
    main()
