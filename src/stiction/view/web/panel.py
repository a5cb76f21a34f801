"""The panel beside the scene: controls of time, what is shown, charts, and the numbers of a body (viser)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._check import FloatArray
from .reel import Series
from .stage import MODE_RGB, Colour, Stage

CHART_MAX_POINTS = 500  # of a chart, at most
LIST_MAX_BODIES = 500  # bodies in the list; of larger worlds they are picked in the scene
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5", "10")
RESIDUAL_FLOOR = 1e-17  # of residuals on a logarithmic axis
NOBODY = "none"
GONE = (
    "The program behind this page has ended or is busy. When it answers again, the page goes on by itself; "
    "a program that is started again prints a new address."
)
GONE_HTML = (  # an animation that starts after some seconds; each beat replaces it
    "<style>@keyframes stiction-gone {{ to {{ max-height: 9em; padding: 0.6em; }} }}</style>"
    '<div role="alert" data-beat="{number}" style="max-height: 0; padding: 0; overflow: hidden; background: #b00020; '
    "color: white; border-radius: 4px; font-size: 0.9em; margin: 0 0.5em; animation: stiction-gone 0s linear 6s "
    'forwards">' + GONE + "</div>"
)
LINES: dict[str, tuple[Colour, ...]] = {
    "energy": ((0, 114, 178), (230, 159, 0), (60, 60, 60)),
    "contacts": tuple(MODE_RGB.values()),
    "certificate": ((0, 114, 178), (213, 94, 0), (0, 158, 115)),
}


def charts(series: Series) -> dict[str, tuple[list[str], list[FloatArray]]]:
    """Names and values (each (n,)) of the lines of the charts that there is something for; times come first."""
    made: dict[str, tuple[list[str], list[FloatArray]]] = {}
    if series.energy is not None:
        total = series.energy.sum(axis=0)
        made["energy"] = (["time", "kinetic", "potential", "total"], thinned([series.times, *series.energy, total]))
    if series.contacts is not None:
        made["contacts"] = (["time", "stick", "slip", "open"], thinned([series.times, *series.contacts]))
    if series.residuals:
        acted = {name: value for name, value in series.residuals.items() if name == "scaled_map" or value.any()}
        values = [np.log10(np.maximum(value, RESIDUAL_FLOOR)) for value in acted.values()]
        names = ["time", *(name.replace("_", " ") for name in acted)]
        made["certificate"] = (names, thinned([series.times, *values], worst=True))
    return made


def thinned(lines: list[Any], points: int = CHART_MAX_POINTS, worst: bool = False) -> list[FloatArray]:
    """Lines with at most so many points: one of each group, or its largest value."""
    n = len(lines[0])
    if n <= points:
        return [np.asarray(line, dtype=float) for line in lines]
    starts = np.linspace(0, n, points, endpoint=False).astype(int)
    ends = np.append(starts[1:], n) - 1
    first, *others = (np.asarray(line, dtype=float) for line in lines)
    return [first[ends], *(np.maximum.reduceat(line, starts) if worst else line[ends] for line in others)]


def past(lines: list[FloatArray], now: float) -> FloatArray:
    """(n,) far from zero, as far as the lines go, up to `now`, and near it after: charts fill towards zero."""
    low, high = min(line.min() for line in lines[1:]), max(line.max() for line in lines[1:])
    return np.where(lines[0] <= now * (1.0 + 1e-12), high if high > 0.0 else low, min(max(0.0, low), high))


class WebPanel:
    """The controls; what they do is given as functions."""

    def __init__(
        self,
        server: Any,
        stage: Stage,
        count: int,
        speed: float,
        shown: dict[str, bool],
        do: dict[str, Callable[..., None]],
    ):
        self.server, self.stage, self.do = server, stage, do
        self._charts: dict[str, Any] = {}
        gui = server.gui
        self._alive = gui.add_html("")
        self.beat(0)
        self.status = gui.add_markdown("")
        self.play = gui.add_button("Play")
        self.play.on_click(lambda _: do["toggle"]())
        steps = gui.add_button_group("Step", ("|<", "<", ">", ">|"))
        steps.on_click(lambda event: do["step"](steps.value))
        self.slider = gui.add_slider("Frame", min=0, max=max(1, count - 1), step=1, initial_value=0)
        self.slider.on_update(lambda event: do["scrub"](self.slider.value) if event.client is not None else None)
        rate = gui.add_dropdown("Speed", SPEEDS, initial_value=min(SPEEDS, key=lambda s: abs(np.log(float(s) / speed))))
        rate.on_update(lambda _: do["speed"](float(rate.value)))
        with gui.add_folder("Body"):
            if stage.count <= LIST_MAX_BODIES:
                names = [name for name, fixed in zip(stage.names, stage.fixed) if not fixed]
                self.body = gui.add_dropdown("Body", (NOBODY, *names), initial_value=NOBODY)
                self.body.on_update(lambda event: self._listed() if event.client is not None else None)
            self.numbers = gui.add_markdown("Click a body in the scene.")
        with gui.add_folder("Show", expand_by_default=False):
            for name, initial in shown.items():
                box = gui.add_checkbox(name.capitalize(), initial)
                box.on_update(lambda _, box=box, name=name: do["show"](name, box.value))
            through = gui.add_checkbox("See through bodies", False)
            through.on_update(lambda _: do["through"](through.value))
            length = gui.add_slider("Arrows", min=0.1, max=5.0, step=0.1, initial_value=1.0)
            length.on_update(lambda _: do["arrows"](length.value))
            gui.add_markdown(legend())
        self._folder = gui.add_folder("Charts")

    def _listed(self) -> None:
        name = self.body.value
        self.do["pick"](None if name == NOBODY else self.stage.names.index(name))

    def beat(self, number: int) -> None:
        """Tell the pages that the program is there: a page that is not told for a while says so by itself."""
        self._alive.content = GONE_HTML.format(number=number)

    def at(self, k: int, count: int, time: float, playing: bool, said: str) -> None:
        """Say where we are."""
        if self.slider.max != max(1, count - 1):
            self.slider.max = max(1, count - 1)
        if self.slider.value != k:
            self.slider.value = k
        label = "Pause" if playing else "Play"
        if self.play.label != label:
            self.play.label = label
        text = f"**{time:.4g} s**, frame {k} of {count - 1}{said}"
        if self.status.content != text:
            self.status.content = text

    def tell(self, body: int | None, rows: list[tuple[str, str]]) -> None:
        """The numbers of a body."""
        if body is None:
            self.numbers.content = "Click a body in the scene."
            return
        name = self.stage.names[body]
        if self.stage.count <= LIST_MAX_BODIES and self.body.value != name:
            self.body.value = name
        lines = "\n".join(f"| {label} | {value} |" for label, value in rows)
        self.numbers.content = f"**{name}**\n\n| | |\n|---|---|\n{lines}"

    def draw(self, series: Series, now: float) -> None:
        """The charts; what is past is shaded."""
        for name, (names, values) in charts(series).items():
            if len(values[0]) < 2:
                continue
            data = tuple(np.ascontiguousarray(v) for v in (values[0], past(values, now), *values[1:]))
            if name in self._charts:
                self._charts[name].data = data
            else:
                self._charts[name] = self._chart(name, names, data)

    def _chart(self, name: str, names: list[str], data: tuple[FloatArray, ...]) -> Any:
        units = {"energy": "energy [J]", "contacts": "contacts", "certificate": "log₁₀ of residuals (SI units)"}
        lines = [
            {"label": label, "stroke": rgb(colour), "width": 1.5, "points": {"show": False}}
            for label, colour in zip(names[1:], LINES[name])
        ]
        shade = {"label": "past", "fill": "rgba(0,0,0,0.09)", "width": 0, "points": {"show": False}}
        scales = {"x": {"time": False}, "y": {"auto": True}}
        axes = ({"label": "time [s]", "labelSize": 20, "size": 34}, {"size": 64})
        with self._folder:
            self.server.gui.add_markdown(f"**{units[name]}**")
            return self.server.gui.add_uplot(
                data, ({"label": "time [s]"}, shade, *lines), scales=scales, axes=axes, height=170,
                legend={"show": True, "live": False},
            )  # fmt: skip


def rgb(colour: Colour) -> str:
    """As pages write it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def legend() -> str:
    """The colours of the modes, in Markdown."""
    names = ("stick", "slip", "open")
    return "Contacts: " + ", ".join(
        f'<span style="color:{rgb(colour)}">&#9632;</span> {name}' for name, colour in zip(names, MODE_RGB.values())
    )
