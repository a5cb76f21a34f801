"""Two levels of a residual: what large problems miss is counted and told, and what cannot be solved is never taken."""

import json
import math
import warnings

import numpy as np
import pytest

import stiction as st
from stiction import Status
from stiction.cli import main
from stiction.solvers.acceptance import grade, regularise, report_regularised
from stiction.solvers.base import finish
from stiction.solvers.gauss_seidel.parameters import ATTEMPT

DT, STEPS = 0.005, 80


def bed(side=5, depth=5, lid=None):
    """Spheres that fall the last bit of their way into a box; lid: the velocity of a plate above them [m/s]."""
    world, rng = st.World(), np.random.default_rng(3)
    world.set_material("default", friction=0.5)
    half = 0.053 * side
    for normal, offset in (((0, 0, 1), 0.0), *(((x, y, 0), -half) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)))):
        world.add_plane(normal, offset)
    for k in range(side * side * depth):
        at = np.array([k % side, k // side % side, k // side**2]) - [(side - 1) / 2, (side - 1) / 2, -0.5]
        world.add_body(st.Sphere(0.05), density=1000.0, position=0.105 * at + rng.uniform(-2e-3, 2e-3, 3), name=f"s{k}")
    if lid is not None:
        plate = st.Box((2.2 * half, 2.2 * half, 0.02))
        world.add_body(plate, kind="kinematic", position=(0, 0, 0.105 * depth + 0.02), velocity=(0, 0, lid), name="lid")
    return world


def vice(world):
    """The world with a stone, high above, between two jaws that close on it: an island without a solution."""
    for sign, name in ((1.0, "left jaw"), (-1.0, "right jaw")):
        jaw, velocity = st.Box((0.1, 0.1, 0.1)), (0.1 * sign, 0, 0)
        world.add_body(jaw, kind="kinematic", position=(-0.1 * sign, 0, 1.0), velocity=velocity, name=name)
    world.add_body(st.Box((0.0999, 0.1, 0.1)), mass=1.0, position=(0, 0, 1.0), name="stone")
    return world


def shelf(world):
    """The world with a stone on a shelf high above: an island of its own."""
    world.add_body(st.Box((0.2, 0.2, 0.1)), kind="fixed", position=(0, 0, 1.0), name="shelf")
    world.add_body(st.Sphere(0.05), mass=1.0, position=(0, 0, 1.1), name="stone")
    return world


def missed_in(step):
    """Whether a step missed its tolerance, by its residual alone."""
    return step.solution.certificate.error > 1e-6


@pytest.fixture(scope="module")
def stepped():
    """The bed step by step: what each step said."""
    sim = st.Simulator(bed(), DT)
    return sim, [sim.step() for _ in range(STEPS)]


def test_a_default_run_of_a_bed_goes_on_and_counts_what_it_misses(stepped):
    _, steps = stepped
    missed = [step for step in steps if missed_in(step)]
    assert 5 < len(missed) < STEPS
    for step in missed:
        assert step.status is Status.ACCEPTED
        assert not step.success
        assert step.taken
        assert 1e-6 < step.solution.certificate.error <= 1e-3
        assert len(step.solution.p) > ATTEMPT.strict_rows
        assert "accepted" in step.message
    assert all(step.success for step in steps if not missed_in(step))


def test_a_run_in_a_pipe_says_it_once(caplog):
    st.Simulator(bed(), DT).run(STEPS * DT)
    assert [r.getMessage().startswith("stiction: from here (t = 0.") for r in caplog.records] == [True]
    caplog.clear()
    st.Simulator(bed(), DT).run(STEPS * DT, progress=False)
    assert not caplog.records


@pytest.mark.parametrize("every", [1, 20])
def test_counts_are_those_of_the_steps_and_the_bits_too(stepped, every, tmp_path):
    """Run, recording and the steps themselves agree, whoever took the step."""
    slow, steps = stepped
    accepted = sum(missed_in(step) for step in steps)
    worst = max(step.solution.certificate.error for step in steps)
    for record in (None, tmp_path / "bed.h5"):
        sim = st.Simulator(bed(), DT)
        run = sim.run(STEPS * DT, every=every, record=record)
        assert np.array_equal(sim.state.q, slow.state.q)
        assert np.array_equal(sim.state.v, slow.state.v)
        assert run.certificate.accepted == accepted
        assert run.certificate.regularised == 0
        assert not run.success
        assert run.certificate.worst["scaled_map"] == pytest.approx(worst, rel=1e-12)
        told = f"{accepted} of {STEPS} steps between tol = 1e-06 and accept, worst {worst:.1e} at t = "
        assert told in repr(run)
        assert "failed" not in repr(run)


def test_the_command_line_counts_them_too(stepped, tmp_path, monkeypatch, capsys):
    _, steps = stepped
    accepted = sum(missed_in(step) for step in steps)
    world = bed()
    world.to_scene(st.Simulator(world, DT), duration=STEPS * DT).save(tmp_path / "bed.toml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["stiction", "run", "bed.toml", "--json", "run.json"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    told = json.loads((tmp_path / "run.json").read_text())
    assert told["status"] == "done"
    assert told["accepted"] == accepted == told["missed"]
    assert told["regularised"] == 0
    assert f"{accepted} of {STEPS} steps between tol = 1e-06 and accept" in " ".join(said.out.split())
    assert said.err.count("steps miss tol = 1e-06 and are counted") == 1


def test_with_accept_equal_to_tol_every_step_meets_it():
    run = st.Simulator(bed(), DT, accept=1e-6).run(STEPS * DT)
    assert run.success
    assert run.certificate.accepted == 0
    assert run.certificate.worst["scaled_map"] <= 1e-6


def test_small_problems_are_the_same_to_the_bit_whatever_is_accepted():
    """Up to 300 rows the rule takes nothing above tol."""
    ends = []
    for accept in (None, 1e-6):
        sim = st.Simulator(bed(side=2, depth=3), DT, accept=accept)
        run = sim.run(0.5)
        assert run.success
        assert run.certificate.accepted == 0
        ends.append(sim.state)
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].v, ends[1].v)


@pytest.mark.parametrize("every", [1, 20])
def test_a_small_part_without_a_solution_stops_a_large_world_and_is_named(every):
    """Its residual beside that of 125 spheres would pass as accepted."""
    with pytest.raises(st.SolverError, match="stone") as stopped:
        st.Simulator(vice(bed()), DT).run(STEPS * DT, every=every)
    assert stopped.value.status not in (Status.ACCEPTED, Status.REGULARISED)


def test_a_lid_that_no_bed_can_bear_stops_the_run_before_it_is_deep():
    """What contacts would have to give way by is what the lid closes: regularising does not hide it."""
    with pytest.raises(st.SolverError) as stopped:
        st.Simulator(bed(lid=-0.5), DT).run(0.3)
    error = stopped.value
    assert error.trajectory.certificate.worst["penetration"] < 0.005
    assert np.isfinite(error.certificate.error)


def jammed():
    """The problem of a step of the bed that is hard: its last."""
    sim = st.Simulator(bed(), DT)
    sim.advance(STEPS)
    return sim.scheme.probe(sim.system, sim.state, DT)


def test_what_is_regularised_is_solved_as_what_it_is_and_says_so():
    """With the compliance of W/300 the problem is well posed, and solved to 1e-6; contacts give way by C (p - p₀)."""
    problem = jammed()
    before = st.solve(problem, "nsgs", tol=1e-12, maxiter=100)
    soft = regularise(problem, before.p)
    made = st.solve(soft, tol=1e-6)
    assert made.success
    done = report_regularised(problem, soft, made, before)
    assert done.status is Status.REGULARISED
    assert not done.success
    assert done.taken
    assert np.array_equal(done.u, problem.q + problem.dynamics.delassus_times(done.p))
    overlap = np.abs((soft.C * (made.p - before.p))[problem.row_ptr[:-1]]).max() * DT
    assert 0.0 < overlap < 1e-6  # m, of spheres of 5 cm
    assert "by the rigid law the residual is" in done.message


def test_a_compliance_does_not_sink_under_the_load_that_contacts_carry():
    """What solves the rigid problem solves the regularised one as well: preloaded, nothing gives way."""
    sim = st.Simulator(bed(side=3, depth=2), DT)
    sim.advance(STEPS)
    problem = sim.scheme.probe(sim.system, sim.state, DT)
    solved = st.solve(problem, tol=1e-8)
    assert solved.success
    soft = regularise(problem, solved.p)
    assert (soft.C > problem.C).all()
    assert soft.certify(solved.p).scaled_map == pytest.approx(solved.certificate.scaled_map, abs=1e-12)


@pytest.mark.parametrize(("name", "taken"), [("s0", True), ("stone", False)])
def test_only_islands_that_are_large_themselves_may_miss(name, taken):
    """The same error of the whole is accepted in the bed, and not in a stone that rests by itself."""
    sim = st.Simulator(shelf(bed()), DT)
    sim.advance(STEPS - 20)
    problem = sim.scheme.probe(sim.system, sim.state, DT)
    answer = st.solve(problem, tol=1e-6)
    assert problem.nr > ATTEMPT.strict_rows
    assert answer.success
    bodies = [sim.system.constraint_name(int(key)).split(" ")[0].split("/") for key in problem.key]
    block = next(k for k, pair in enumerate(bodies) if name in pair and answer.p[problem.row_ptr[k]] > 0.0)
    p = answer.p.copy()
    p[problem.row_ptr[block]] += 1e-4 * problem.scale * problem.rho[block]
    spoiled = finish(problem, p, solver="nsgs", tol=1e-6, status=Status.MAXITER, message="Spoiled.", iterations=1)
    assert 1e-6 < spoiled.certificate.error < 1e-3
    assert grade(problem, spoiled, 1e-6, None).taken == taken


def test_going_on_is_called_continue_and_the_old_word_warns(tmp_path):
    """In Python and in a scene file alike."""
    world, path = bed(side=1, depth=1), tmp_path / "bed.toml"
    world.to_scene(st.Simulator(world, DT, on_failure="continue"), duration=DT).save(path)
    text = path.read_text()
    assert 'on_failure = "continue"' in text
    path.write_text(text.replace('"continue"', '"accept"'))
    for make in (lambda: st.Simulator(world, DT, on_failure="accept"), lambda: st.read_scene(path).simulator()):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            sim = make()
        assert sim.on_failure == "continue"
        assert [str(w.message)[:48] for w in seen if w.category is FutureWarning] == [
            'on_failure="accept" is now called "continue"; ac'
        ]
    with pytest.raises(st.ModelError, match="accept must be at least tol"):
        st.Simulator(bed(side=1, depth=1), DT, tol=1e-3, accept=1e-6)


def test_a_residual_is_told_in_metres_per_second_and_newtons(stepped):
    """The velocity that is left at contacts is that of the certificate, and the force is an impulse over the step."""
    _, steps = stepped
    step = max(steps, key=lambda one: one.solution.certificate.error)
    told, seen = step.certificate, step.solution.certificate
    assert told.overlap_left == pytest.approx(DT * seen.penetration_rate)
    assert told.overlap_left > 0.0
    assert told.force_error == pytest.approx(seen.impulse_error / DT)
    weight = 1000.0 * 4.0 / 3.0 * math.pi * 0.05**3 * 9.81
    assert told.weight_share == pytest.approx(told.force_error / weight, rel=1e-6)
