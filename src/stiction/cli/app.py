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
    add_completion=False,
)


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


JsonOption = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result for programs.")]


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="An experiment, or `all`; without it, the list.")] = None,
    json: JsonOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the figures into this folder.")
    ] = None,
) -> None:
    """Reproduce an experiment of the papers and compare every number.

    Example: `stiction reproduce st96-rod --json rod.json --out figures`
    """
    from .reproduce import list_experiments, reproduce_experiments

    if name is None:
        list_experiments(json)
        return
    if not reproduce_experiments(name, json, out):
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
def info(json: JsonOption = None) -> None:
    """Show versions, the machine, and where compiled kernels are kept.

    Example: `stiction info`
    """
    from .info import show_info

    show_info(json)
