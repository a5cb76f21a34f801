"""`Simulator(dump=...)`: hard steps are kept as files, and the run does not notice."""

import warnings

import h5py
import numpy as np
import pytest

import stiction as st
from stiction.simulation.dump import DumpWarning, is_hard
from stiction.solvers import Nsgs


def tower(n=3):
    world = st.World()
    world.set_material("default", friction=0.5)
    world.add_plane()
    for i in range(n):
        world.add_body(st.Box((0.2, 0.2, 0.2)), density=500, position=(0.01 * i, 0, 0.1 + 0.2 * i))
    return world


def simulator(folder, solver="nsgs", **options):
    return st.Simulator(tower(), 0.005, solver=solver, tol=1e-10, on_failure="continue", dump=folder, **options)


def test_missed_tolerances_become_files_that_can_be_read(tmp_path):
    folder = tmp_path / "made" / "when needed"
    sim = simulator(folder, Nsgs(maxiter=3, accelerate=False))
    assert not folder.exists()
    results = [sim.step() for _ in range(4)]
    hard = [k for k, r in enumerate(results) if not r.success]
    assert hard
    # the first solve of each step; a second one (without push-out) may have failed too and is not in the results
    files = sorted(folder.glob("*-solve-01-*"))
    assert [f.name.split("-solve")[0] for f in files] == [f"step-{k:07d}" for k in hard]
    for file, k in zip(files, hard):
        problem, solution = st.read_fclib(file), results[k].solves[0][1]
        assert f"contacts-{problem.nk:06d}" in file.name
        assert problem.nr == len(solution.p)
        # it is the problem that was solved: the same residual for the same impulses
        assert problem.certify(solution.p).natural_map == pytest.approx(solution.certificate.natural_map, rel=1e-6)
        with h5py.File(file) as data:
            np.testing.assert_array_equal(data["solution/r"][()], solution.p)
            assert f"step {k} from t" in data["fclib_global/info/description"][()].decode()


def test_a_run_with_dump_is_the_same_to_the_bit(tmp_path):
    few = Nsgs(maxiter=5, accelerate=False)
    runs = [
        st.Simulator(tower(), 0.005, solver=few, tol=1e-10, on_failure="continue", dump=d).run(0.05)
        for d in (None, tmp_path / "d")
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].v, runs[1].v)
    assert any((tmp_path / "d").iterdir())


def test_easy_runs_leave_no_folder(tmp_path):
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    world.add_plane()
    st.Simulator(world, 0.005, dump=tmp_path / "d").run(0.02)
    assert not (tmp_path / "d").exists()


def test_a_failed_step_is_written_before_it_raises(tmp_path):
    sim = st.Simulator(tower(), 0.005, solver=Nsgs(maxiter=1, accelerate=False), tol=1e-12, dump=tmp_path)
    with pytest.raises(st.SolverError):
        sim.run(0.05)
    files = sorted(tmp_path.iterdir())
    again = st.solve(st.read_fclib(files[0]), "auto", tol=1e-10)
    assert again.success, again.message
    with pytest.raises(st.SolverError):  # the simulator is as it was: the same step again has the same files
        sim.step()
    assert sorted(tmp_path.iterdir()) == files


def test_the_rule(tmp_path):
    problem = st.ContactProblem(st.Delassus(np.eye(2)), b=[-1.0, 0], friction=[0.3], row_ptr=[0, 2], law=[1])
    easy = st.solve(problem, "nsgs")
    assert not is_hard(easy)
    from dataclasses import replace

    assert is_hard(replace(easy, success=False))
    assert is_hard(replace(easy, iterations=1000))
    assert not is_hard(replace(easy, iterations=999))
    assert not is_hard(replace(easy, stages=2))
    assert is_hard(replace(easy, stages=3))


def test_auto_counts_its_stages():
    """One contact is done by the first; a problem without a solution goes through all of them."""
    problem = st.ContactProblem(st.Delassus(np.eye(3)), b=[-1.0, 0, 0], friction=[0.3], row_ptr=[0, 3], law=[1])
    assert st.solve(problem, "auto").stages == 1
    none = st.ContactProblem(st.Delassus(np.zeros((3, 3))), b=[-1.0, 0, 0], friction=[0.3], row_ptr=[0, 3], law=[1])
    failed = st.solve(none, "auto")
    assert not failed.success
    assert failed.stages > 2
    assert is_hard(failed)


def test_what_fclib_cannot_hold_is_skipped_with_one_warning(tmp_path):
    """Polyhedral friction: the run goes on, the warning comes once."""
    world = tower()
    sim = st.Simulator(
        world, 0.005, scheme=st.StewartTrinkle(), solver=Nsgs(maxiter=2, accelerate=False), tol=1e-12,
        on_failure="continue",
        dump=tmp_path / "d",
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert not sim.step().success
    ours = [w for w in caught if issubclass(w.category, DumpWarning)]
    assert len(ours) == 1
    assert "isotropic Coulomb" in str(ours[0].message)
    assert not (tmp_path / "d").exists() or not list((tmp_path / "d").iterdir())


def test_a_folder_that_cannot_be_made_does_not_fail_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    sim = simulator(tmp_path / "file" / "inside", Nsgs(maxiter=2, accelerate=False))
    with pytest.warns(DumpWarning, match="was not written"):
        sim.run(0.02)


def test_dump_refuses_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(st.ModelError, match="is a file; give a folder"):
        simulator(tmp_path / "file")
    with pytest.raises(st.ModelError, match="path of a folder"):
        simulator(3)
