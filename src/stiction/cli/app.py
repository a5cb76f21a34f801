"""The commands, one function each, with the work in a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="stiction",
    help="Rigid bodies with hard contact, impact and Coulomb friction, certified step by step.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _kinds() -> list[str]:
    from .new import kinds

    return list(kinds())


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"stiction {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Rigid bodies with hard contact, impact and Coulomb friction, certified step by step."""


SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scene, e.g. `run.dt=0.001`; repeatable."),
]
JsonOption = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result for programs.")]


@app.command()
def new(
    file: Annotated[Path | None, typer.Argument(metavar="FILE.toml", help="What to write; without it, a list.")] = None,
    kind: Annotated[str, typer.Option("--kind", help="Which starter scene.", autocompletion=_kinds)] = "tower",
) -> None:
    """Write a scene to begin with.

    Example: `stiction new demo.toml --kind arch`
    """
    from .new import new_scene

    new_scene(file, kind)


@app.command()
def check(
    scenes: Annotated[list[Path], typer.Argument(metavar="SCENE", help="Scene files (TOML).")],
    changes: SetOption = None,
    json: JsonOption = None,
) -> None:
    """Read scenes and say what is in them, or everything that is wrong with them.

    Example: `stiction check demo.toml`
    """
    from .check import check_scenes

    if not check_scenes(scenes, changes or [], json):
        raise typer.Exit(2)


@app.command()
def run(
    scene: Annotated[Path | None, typer.Argument(metavar="SCENE", help="A scene file (TOML).")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE.h5", help="The recording; by default SCENE's name.")
    ] = None,
    changes: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="FILE.h5", help="Go on with a recording that was stopped.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE.h5@TIME", help="Begin from a moment of a recording, with other values."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    json: JsonOption = None,
) -> None:
    """Run a scene into a recording.

    Ctrl-C stops at the next recorded step and keeps what there is; `--resume` goes on from there, to the same bits as
    if nothing had happened. A complete recording of the same name is replaced, one that was stopped is not.

    Example: `stiction run demo.toml --set materials.default.friction=0.2 --out slippery.h5`
    """
    from .run import run_scene

    code = run_scene(scene, out=out, changes=changes or [], resume=resume, start=start, json=json, quiet=quiet)
    if code:
        raise typer.Exit(code)


@app.command()
def plot(
    recording: Annotated[
        Path | None, typer.Argument(metavar="FILE.h5", help="A recording; by default the newest in this folder.")
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="energy, states, phase, impulses, modes, certificate, frames; or components: ball.x ball.vx",
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", "--body", metavar="NAME", help="Only this body, coordinate or contact; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.png|DIR", help="Where to write it; a folder for several."),
    ] = None,
) -> None:
    """Draw a recording: one picture for each name, components together in one.

    Example: `stiction plot demo.h5 energy modes`, or `stiction plot demo.h5 phase --of ball --out ball.png`
    """
    from .plot import plot_recording

    plot_recording(recording, what or [], of or [], out)


@app.command()
def view(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.h5|SCENE.toml",
            help="A recording, by default the newest in this folder; or a scene, run live.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE.gif|.mp4|.png|.pdf|.svg", help="Write a film, or a few moments of it, instead."
        ),
    ] = None,
    at: Annotated[float | None, typer.Option("--at", metavar="S", help="With --out: a picture of this moment.")] = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="With --out: arrows at the contacts, by their mode.")
    ] = False,
    host: Annotated[str, typer.Option(help="Who may look: by default only this machine; 0.0.0.0: others too.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the page is; the next free one is taken.")] = 8080,
    speed: Annotated[float, typer.Option(help="Seconds of the run per second of the clock.")] = 1.0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Show the bodies of a recording as they move, in the browser, also while it is being written.

    Example: `stiction view demo.h5`, or `stiction view demo.h5 --out demo.mp4 --speed 0.5`
    """
    from .view import draw_recording, view_in_browser

    if out is not None:
        draw_recording(file, out, at=at, speed=speed, forces=forces)
    else:
        view_in_browser(file, host, port, speed, open_browser)


@app.command()
def export(
    recording: Annotated[Path, typer.Argument(metavar="FILE.h5", help="A recording.")],
    out: Annotated[
        list[Path],
        typer.Argument(metavar="OUT", help="Files to write, by their endings: .csv, .npz, .pvd (VTK), .glb."),
    ],
    format: Annotated[
        str | None, typer.Option("--format", metavar="csv|npz|vtk|gltf", help="Where the ending does not say it.")
    ] = None,
) -> None:
    """Write a recording for other programs: spreadsheets, NumPy, ParaView, viewers of glTF.

    Example: `stiction export demo.h5 demo.csv demo.glb`
    """
    from .export import export_recording

    export_recording(recording, out, format)


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to a file.")] = None,
) -> None:
    """Print the JSON schema of scene files, with which editors complete and check them.

    Example: `stiction schema --out stiction.schema.json`
    """
    from ..scene import scene_schema
    from .output import write_json

    if out is not None:
        write_json(out, scene_schema())
        return
    import json

    typer.echo(json.dumps(scene_schema(), indent=2))


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="An experiment, or `all`; without it, the list.")] = None,
    json: JsonOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the figures and report.html into this folder.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="Write the report here: one page with tables and figures."),
    ] = None,
    study: Annotated[
        bool, typer.Option("--study", help="Run the study instead: many runs; the list says which have one.")
    ] = False,
) -> None:
    """Reproduce an experiment of the papers and compare every number.

    The report is one file that needs no network: every table and figure beside what the paper says. Exit code 1 if an
    experiment failed or a number is not the one on record; the others are run and shown all the same. `all --study`
    runs every study.

    Example: `stiction reproduce st96-rod --json rod.json --out figures`
    """
    from .reproduce import list_experiments, reproduce_experiments

    if name is None:
        list_experiments(json, study=study)
        return
    if not reproduce_experiments(name, json, out, report, study=study):
        raise typer.Exit(1)


@app.command()
def solve(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="FCLIB files (HDF5), Siconos text files (.dat), or folders of them."),
    ],
    solver: Annotated[
        str, typer.Option("--solver", metavar="all|NAME[,NAME]", help="Which solvers run; `stiction info` lists them.")
    ] = "auto",
    tol: Annotated[float, typer.Option("--tol", help="The largest residual: the natural map over |q|.")] = 1e-8,
    maxiter: Annotated[
        int | None, typer.Option("--maxiter", metavar="N", help="Limit of iterations; by default each solver's own.")
    ] = None,
    json: JsonOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write the performance profile (two solvers or more) here."),
    ] = None,
) -> None:
    """Solve contact problems from files and compare solvers.

    The residual is the certificate's natural map, the measure of published comparisons on FCLIB. Seconds are those of
    the fastest of two to five runs, so that compilation is left out. Exit code 1 if a problem was solved by none of
    the solvers.

    Example: `stiction solve problems/ --solver nsgs,newton --tol 1e-6 --json times.json --out figures`
    """
    from .solve import solve_files

    if not solve_files(files, solver, tol, maxiter, json, out):
        raise typer.Exit(1)


@app.command()
def analyze(
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="A scene file (TOML).")],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the scene, such as contacts.0.friction=0.2."),
    ] = None,
    closed: Annotated[
        float, typer.Option("--closed", metavar="M", help="Contacts with at most this gap touch.")
    ] = 1e-6,
    rest: Annotated[float, typer.Option("--rest", metavar="M/S", help="Slower contacts are at rest.")] = 1e-6,
    directions: Annotated[
        int | None,
        typer.Option("--directions", metavar="N", help="That stand for a round friction cone; by default it stays."),
    ] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", metavar="S", help="For all searches together.")] = 60.0,
    json: JsonOption = None,
) -> None:
    """Say whether a scene at its start is jammed, slides, or could move in two ways, and how far it is from that.

    Existence and uniqueness of the motion, the friction at which they are lost, the friction at which contacts can jam,
    the pull that resting parts hold, and which hypotheses of the theorems hold. Exit code 1 if existence or uniqueness
    was not decided within the time.

    Example: `stiction analyze examples/door_wedge.toml --json wedge.json`
    """
    from .analyze import analyze_scene

    if not analyze_scene(scene, changes or [], closed, rest, directions, time_limit, json):
        raise typer.Exit(1)


@app.command()
def info(json: JsonOption = None) -> None:
    """Show versions, the machine, and where compiled kernels are kept.

    Example: `stiction info`
    """
    from .info import show_info

    show_info(json)
