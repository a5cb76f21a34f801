"""The papers that stiction implements: their experiments with printed numbers, ours, and verdicts.

st96_*, ah03_*, s00_*, pr11_*, ttp01_*   experiments and studies of each paper, by its key
experiment                               `Experiment`: printed numbers, measured numbers, and the verdict on each
impacts, belt, penalty                   what experiments of several papers share
progress                                 how far a study is
figures/, words, report                  figures, captions, and the page of `stiction reproduce`
"""

from __future__ import annotations

from .. import _check
from .._arguments import checks_arguments
from .experiment import Experiment, Outcome, Quantity

__all__ = ["Experiment", "Outcome", "Quantity", "experiment", "experiments"]


def experiments() -> dict[str, Experiment]:
    """Every experiment, by name."""
    from . import (
        ah03_brazil_nut,
        ah03_claims,
        ah03_disks,
        ah03_ellipse,
        pr11_compliance,
        pr11_critical,
        pr11_forces,
        pr11_hammer,
        pr11_impulse,
        pr11_solvers,
        pr11_stepping,
        s00_ball,
        s00_billiards,
        s00_energy,
        s00_inclusion,
        s00_painleve,
        s00_phase,
        s00_printed,
        s00_speed,
        s00_weak,
        st96_balls,
        st96_curved,
        st96_rod,
        ttp01_bowling,
        ttp01_sphere,
        ttp01_two_spheres,
    )

    all_of_them = (
        st96_rod.EXPERIMENT,
        st96_balls.TWO,
        st96_balls.FOUR,
        st96_curved.EXPERIMENT,
        ah03_ellipse.EXPERIMENT,
        ah03_disks.EXPERIMENT,
        ah03_claims.EXPERIMENT,
        ah03_brazil_nut.EXPERIMENT,
        s00_ball.EXPERIMENT,
        s00_phase.EXPERIMENT,
        s00_billiards.EXPERIMENT,
        s00_printed.EXPERIMENT,
        s00_energy.GAINS,
        s00_energy.LOSSES,
        s00_weak.EXPERIMENT,
        s00_inclusion.EXPERIMENT,
        s00_speed.EXPERIMENT,
        s00_painleve.EXPERIMENT,
        pr11_forces.NONE,
        pr11_forces.MANY,
        pr11_impulse.EXPERIMENT,
        pr11_stepping.EXPERIMENT,
        pr11_solvers.EXPERIMENT,
        pr11_compliance.EXPERIMENT,
        pr11_hammer.EXPERIMENT,
        pr11_critical.EXPERIMENT,
        *ttp01_sphere.EXPERIMENTS,
        ttp01_bowling.EXPERIMENT,
        ttp01_two_spheres.EXPERIMENT,
    )
    return {e.name: e for e in all_of_them}


@checks_arguments
def experiment(name: str) -> Experiment:
    """An experiment by name; a misspelt name gets a suggestion."""
    known = experiments()
    return known[_check.choice("experiment", name, list(known))]
