"""The Brazil nut of ah03: the scene is as its text says, steps are certified, nothing overlaps, and it emerges."""

import numpy as np
import pytest

from stiction.errors import ModelError
from stiction.papers import ah03_brazil_nut as nut
from stiction.papers import ah03_brazil_study as study
from stiction.papers import experiment
from stiction.solvers import Nsgs


def inside(run):
    """How far disks reach beyond the floor and the walls of the box, at most [m]."""
    radii = np.concatenate([[nut.LARGE], nut.sizes(run.seed)])
    at = run.places
    return float(max((radii - at[..., 1]).max(), (np.abs(at[..., 0]) + radii - 0.5 * nut.WIDTH).max()))


def test_the_start_has_no_overlap_and_201_disks():
    for seed in (1, 2, 3):
        at = np.vstack([[0.0, nut.LARGE], nut.places(seed)])
        radii = np.concatenate([[nut.LARGE], nut.sizes(seed)])
        assert len(at) == 201
        apart = np.linalg.norm(at[:, None] - at[None], axis=2) - radii[:, None] - radii[None]
        assert apart[np.triu_indices(201, 1)].min() >= 0
        assert (at[:, 1] - radii).min() >= 0
        assert (0.5 * nut.WIDTH - np.abs(at[:, 0]) - radii).min() >= 0


def test_the_shaking_starts_gently_and_comes_to_rest():
    times = np.arange(0.0, nut.DURATION, 0.01)
    height = np.array([nut.shaking(t)[1] for t in times])
    peaks = [height[(times >= k * nut.PERIOD) & (times < (k + 1) * nut.PERIOD)].max() for k in range(nut.SHAKES + 1)]
    lift = nut.LIFT
    assert peaks == pytest.approx([0, lift / 3, 2 * lift / 3, *[lift] * (nut.SHAKES - 2)], abs=1e-3)
    assert np.abs(np.diff(height)).max() < 0.01 * np.pi * lift / nut.PULSE * 1.001  # no jumps
    # the box is taken down faster than bodies fall: the bed flies
    assert -np.diff(height, 2).min() / 0.01**2 > 2 * 9.81


def test_the_first_shakes_are_certified_without_overlap_and_nothing_escapes():
    run = nut.shake(duration=5.0)
    worst = run.trajectory.certificate.worst
    assert max(worst["natural_map"], worst["scaled_map"]) <= nut.TOL
    assert worst["penetration"] < 2e-4  # the tolerance times h times the norm of the velocities it is relative to
    assert inside(run) < 2e-4
    assert run.height.max() > nut.LARGE + 0.1  # the second shake lifts the large disk off the floor
    assert len(run.seconds) == len(run.contacts) == 50
    assert run.loaded.max() <= run.contacts.max()


@pytest.mark.long
def test_the_run_is_the_one_on_record():
    outcome = experiment("ah03-brazil-nut").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    assert [q.name for q in outcome.quantities if q.verdict == "differs"] == []
    assert set(outcome.figures()) == {f"ah03-brazil-nut-{name}" for name in ("fig7", "fig9", "rise")}


@pytest.mark.long
def test_other_seeds_emerge_too():
    """Three of four beds bring it up within 49 shakes, and in the other one (seed 5) two small disks are left on it."""
    emerged = 0
    for seed in (2, 3, 4, 5):
        run = nut.shake(seed)
        assert run.above[-1] <= 10  # 42 at the start; how many lie on it from shake to shake is chaotic
        assert inside(run) < 2e-4
        emerged += run.shakes_needed is not None
    assert emerged >= 3


@pytest.mark.long
def test_with_coulombs_own_law_it_stays_buried():
    """The relaxed law loosens the bed (see docs/gallery.md) and brings it up in 28 shakes; here it rises slowly.

    Fewer than a tenth of the solves miss 1e-4: that will do. How many lie on it at the end is chaotic: of three beds.
    """
    last = []
    for seed in (1, 2, 3):
        run = nut.shake(seed, relaxation="none", solver=Nsgs(maxiter=2000), tol=1e-4, on_failure="continue")
        assert len(run.trajectory.certificate.failed_steps) < 0.1 * len(run.seconds)
        assert run.shakes_needed is None
        assert run.above[run.ends][27] > 20
        last.append(run.above[-1])
    assert np.median(last) > 15


def rows(rises, seeds=(1, 2, 3, 4)):
    """Runs of a study with these rises by law and step, one after the other seed."""
    return [
        study.Row(law, h, seed, 24, rise + 0.1 * (seed - 2.5), 20.0, 1.5, 1e-5, 3, 0, 1e-6, 2.0, "1.000 2.000")
        for (law, h), rise in rises.items()
        for seed in seeds
    ]


def test_a_study_goes_on_after_its_last_row(tmp_path, monkeypatch):
    """Rows that are there are read back as they were written, and not run again; a damaged table is refused."""
    path, known = tmp_path / "study.csv", rows({("rigid", 0.1): 2.0})
    for row in known[:3]:
        study.append_row(path, row)
    asked = []
    monkeypatch.setattr(study, "shake", lambda *run: asked.append(run) or known[3])
    assert study.collect(path, ("rigid",), (0.1,), (1, 2, 3, 4), 24) == known
    assert asked == [("rigid", 0.1, 4, 24)]
    assert study.collect(path, ("rigid",), (0.1,), (1, 2, 3, 4), 24) == known
    assert len(asked) == 1
    path.write_text(path.read_text()[:-30])
    with pytest.raises(ModelError, match="no table of this study"):
        study.read_rows(path)


def test_what_a_study_concludes():
    """An excess of first order over a constant rise is found as such, and its interval holds it."""
    steps = (0.1, 0.025, 0.0125, 0.00625)
    rises = {("rigid", h): 2.0 for h in steps} | {("relaxed", h): 2.0 + 200 * h for h in steps}
    found = study.Findings(rows(rises))
    assert found.rise("relaxed", 0.025).mean == pytest.approx(7.0)
    assert found.excess("relaxed", 0.00625).mean == pytest.approx(1.25)
    excess, order = found.excess("relaxed", 0.00625), found.order("relaxed")
    assert excess.low < 1.25 < excess.high < 1.25 + 4 * 0.1
    assert order.mean == pytest.approx(1.0)
    assert order.low < 1.0 < order.high
    assert found.lift("relaxed", 0.1) == pytest.approx(0.5 * 0.1 * 1.5)


def test_a_run_of_the_study():
    row = study.shake("elastic", 0.1, 1, shakes=2)
    assert (row.law, row.h, row.seed, row.shakes) == ("elastic", 0.1, 1, 2)
    assert row.failed == 0
    assert len(row.rises.split()) == 2
    assert 0.0 < row.slip < 10.0
