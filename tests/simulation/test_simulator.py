"""Simulator: what it refuses, how failures are told, and that nothing but the inputs decides the bits."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import stiction as st
from stiction import Gap, GeneralizedSystem, Simulator, Status, StewartTrinkle
from stiction.solvers import Lemke

G, NAN = 9.81, float("nan")


def ball(**change):
    floor = Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.3, name="floor")
    return GeneralizedSystem(
        **({"mass": np.eye(2), "forces": [0.0, -G], "q": [0.0, 0.1], "v": [1.0, 0.0], "gaps": [floor]} | change)
    )


def crusher():
    """Two walls that close on a particle and pass each other at t = 0.5 s: no motion is possible after that."""
    left, right = Gap(lambda t, q: q[0] - t, name="left"), Gap(lambda q: 0.5 - q[0], name="right")
    return GeneralizedSystem([[1.0]], q=[0.1], gaps=[left, right])


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Simulator(ball(), 0.0), "dt must be greater than zero"),
        (lambda: Simulator(ball(), -0.1), "dt must be greater than zero"),
        (lambda: Simulator(ball(), NAN), "dt must be a finite number"),
        (lambda: Simulator(ball(), float("inf")), "dt must be a finite number"),
        (lambda: Simulator(ball(), "0.01"), "dt must be a number; got str"),
        (lambda: Simulator(ball(), None), "dt must be a number"),
        (lambda: Simulator(ball(), 0.01, solver="lemkee"), "Did you mean 'lemke'"),
        (lambda: Simulator(ball(), 0.01, solver="auot"), "Did you mean 'auto'"),
        (lambda: Simulator(ball(), 0.01, solver=None), "solver"),
        (lambda: Simulator(ball(), 0.01, tol=-1.0), "tol"),
        (lambda: Simulator(ball(), 0.01, on_failure="ignore"), "on_failure"),
        (lambda: Simulator(ball(), 0.01, scheme="stewart"), "scheme"),
        (lambda: Simulator(ball(), 0.01, scheme=StewartTrinkle), "scheme"),
        (lambda: Simulator(np.eye(2), 0.01), "system"),
        (lambda: Simulator(GeneralizedSystem, 0.01), "system"),
        (lambda: Simulator(ball(q=[0.0, -0.001]), 0.01), "contact 'floor' overlaps by 0.001 m at the start"),
        (
            lambda: Simulator(ball(constraints=[st.Bilateral(lambda q: q[0] - 0.2, name="pin")]), 0.01),
            "constraint 'pin' is violated by 0.2",
        ),
        (lambda: Simulator(ball(), 0.01).run(-1.0), "duration"),
        (lambda: Simulator(ball(), 0.01).run(NAN), "duration"),
        (lambda: Simulator(ball(), 0.01).run("1 s"), "duration"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, word):
    with pytest.raises(st.ModelError, match=word):
        make()


class Refuses(Lemke):
    name = "shy"

    def refuses(self, problem):
        return "it does not like this."


def test_a_combination_that_cannot_work_is_refused_at_the_start():
    with pytest.raises(st.ModelError, match="StewartTrinkle with solver 'shy' cannot run: it does not like this"):
        Simulator(ball(), 0.01, solver=Refuses())


def later(bad, after=0.05):
    """A gap function that turns bad in the middle of a run."""
    return Gap(lambda t, q: q[1] if t < after else bad, name="floor")


@pytest.mark.parametrize(
    ("bad", "word"),
    [(NAN, "phi returned nan at t = 0.05"), (None, "got NoneType"), (np.zeros(3), r"shape \(3,\)"), ("0", "phi")],
)
def test_gap_that_turns_bad_is_named_and_the_state_kept(bad, word):
    sim = Simulator(ball(gaps=[later(bad)]), 0.01)
    with pytest.raises(st.ModelError, match=f"gap 'floor'.*{word}"):
        sim.run(1.0)
    assert sim.time == pytest.approx(0.04)
    assert np.isfinite(sim.state.q).all()


def test_force_that_turns_bad_is_named():
    sim = Simulator(ball(forces=lambda t, q, v: [0.0, NAN if t > 0.03 else -G]), 0.01)
    with pytest.raises(st.ModelError, match=r"forces\(t, q, v\)"):
        sim.run(1.0)
    assert sim.time == pytest.approx(0.03)


def test_mass_that_turns_bad_is_named():
    sim = Simulator(ball(mass=lambda q: np.eye(2) * (0.07 - q[0]), forces=None, gaps=[]), 0.01)
    with pytest.raises(st.ModelError, match=r"mass\(q\) must be positive definite"):
        sim.run(1.0)


def test_unsolvable_step_raises_with_its_certificate():
    sim = Simulator(crusher(), 0.01)
    with pytest.raises(st.SolverError) as caught:
        sim.run(1.0)
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert isinstance(error, st.StictionError)
    assert error.status in (Status.RAY, Status.NO_SOLUTION)
    assert error.certificate.penetration_rate > 0 or error.certificate.error > 1e-6
    assert error.result.success is False
    assert "step 50 from t = 0.5 s failed" in str(error)
    assert len(error.trajectory) == 51
    assert error.trajectory.success


def test_failed_step_leaves_the_simulator_as_it_was():
    sim = Simulator(crusher(), 0.01)
    sim.run(0.5)
    before, contacts = sim.state, sim.contacts
    kept = [before.q.copy(), before.v.copy(), before.keys.copy(), before.impulses.copy()]
    for _ in range(2):
        with pytest.raises(st.SolverError):
            sim.step()
    assert sim.state is before
    assert sim.contacts is contacts
    for array, old in zip((before.q, before.v, before.keys, before.impulses), kept):
        np.testing.assert_array_equal(array, old)
    assert sim.time == pytest.approx(0.5)


def test_warn_goes_on_and_says_so():
    sim = Simulator(crusher(), 0.01, on_failure="warn")
    sim.run(0.5)
    with pytest.warns(st.StepWarning, match="step 50 from t = 0.5 s failed"):
        result = sim.step()
    assert result.success is False
    assert sim.time == pytest.approx(0.51)


def test_accept_records_the_failed_steps():
    sim = Simulator(crusher(), 0.01, on_failure="continue")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = sim.run(0.55)
    np.testing.assert_array_equal(run.certificate.failed_steps, [50, 51, 52, 53, 54])
    assert not run.success
    assert run.certificate.worst["penetration"] > 0.01
    assert "5 steps failed and were taken all the same" in repr(run)


class Lying(Lemke):
    """Says solved and returns nonsense."""

    name = "lying"
    value = 1.0

    def solve(self, problem, **options):
        s = super().solve(problem, **options)
        return replace(s, v=s.v * self.value, success=False, status=Status.INACCURATE, message="Not today.")


@pytest.mark.parametrize("policy", ["raise", "warn", "continue"])
def test_infinite_velocity_is_never_accepted(policy):
    solver = Lying()
    solver.value = NAN
    sim = Simulator(ball(), 0.01, solver=solver, on_failure=policy)
    with pytest.raises(st.SolverError) as caught:
        sim.step()
    assert caught.value.status is Status.NONFINITE
    assert sim.time == 0.0


WAYS = {"step": lambda s: s.step(), "advance": lambda s: s.advance(3), "run": lambda s: s.run(0.05, every=2)}


def ball_on_a_floor():
    world = st.World()
    world.add_plane()
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), name="ball")
    return world


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("array", "index", "value", "words"),
    [
        ("q", 15, NAN, "coordinate 'ball.y' of body 'ball' is nan"),
        ("q", 7, np.inf, "coordinate 'plane0.x' of body 'plane0' is inf"),
        ("v", 14, -np.inf, "velocity 'ball.vz' of body 'ball' is -inf"),
        ("impulses", 0, NAN, "an impulse of constraint 'plane0/ball 0-1-832'"),
    ],
)
def test_state_that_is_not_finite_is_refused_by_name(way, array, index, value, words):
    sim = Simulator(ball_on_a_floor(), 0.01)
    sim.step()
    before = sim.state
    wrong = replace(before, **{array: getattr(before, array).copy()})
    getattr(wrong, array).flat[index] = value
    with pytest.raises(st.ModelError, match=f"the state to start from must be finite: {words}"):
        sim.start_from(wrong)
    assert sim.state is before
    getattr(sim.state, array).flat[index] = value  # written into by hand
    with pytest.raises(st.ModelError, match=f"cannot step from its state, which must be finite: {words}"):
        WAYS[way](sim)
    assert sim.time == before.t


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.00001, 1e170])
def test_quaternion_that_is_no_rotation_is_refused_by_name(way, factor):
    """A matrix made of one of length 2 is no rotation: shapes grow, and nothing is what it is certified to be."""
    sim = Simulator(ball_on_a_floor(), 0.01)
    before = sim.state
    wrong = replace(before, q=before.q.copy())
    wrong.q[17:21] *= factor
    words = "must have quaternions of length 1: that of body 'ball' has length"
    with pytest.raises(st.ModelError, match=f"the state to start from {words}"):
        sim.start_from(wrong)
    assert sim.state is before
    sim.state.q[17:21] *= factor  # written into by hand
    with pytest.raises(st.ModelError, match=f"cannot step from its state, which {words}"):
        WAYS[way](sim)
    assert sim.time == before.t


def test_coordinate_of_a_generalized_system_that_is_not_finite_is_named():
    sim = Simulator(ball(names=["along", "height"]), 0.01)
    with pytest.raises(st.ModelError, match="coordinate 'height' is nan"):
        sim.start_from(st.State(0.0, np.array([0.0, NAN]), np.zeros(2)))
    with pytest.raises(st.ModelError, match="its time is nan"):
        sim.start_from(st.State(NAN, np.zeros(2), np.zeros(2)))


class Overflowing(StewartTrinkle):
    """Calls a success what is not finite."""

    def step(self, *args):
        result = super().step(*args)
        result.state.q[0] = np.inf
        return result


@pytest.mark.parametrize("policy", ["raise", "warn", "continue"])
def test_scheme_cannot_call_a_success_what_is_not_finite(policy):
    sim = Simulator(ball(), 0.01, scheme=Overflowing(), on_failure=policy)
    with pytest.raises(st.SolverError) as caught:
        sim.step()
    assert caught.value.status is Status.NONFINITE
    assert np.isfinite(sim.state.q).all()


def test_own_solver_fails_with_its_own_words():
    with pytest.raises(st.SolverError, match="Not today") as caught:
        Simulator(ball(), 0.01, solver=Lying()).step()
    assert caught.value.status is Status.INACCURATE


def test_fixed_point_failure_follows_the_policy():
    scheme = StewartTrinkle(nonlinear=True, maxiter=1)
    run = Simulator(ball(), 0.01, scheme=scheme, on_failure="continue").run(0.05)
    assert len(run.certificate.failed_steps) == 5


def same(one, two):
    for name in ("times", "q", "v"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    for name in ("step", "key", "law", "mode", "gap", "impulse", "velocity"):
        assert getattr(one.table, name).tobytes() == getattr(two.table, name).tobytes(), name
    for name, values in one.certificate.residuals.items():
        assert values.tobytes() == two.certificate[name].tobytes(), name


@pytest.mark.parametrize("scheme", [StewartTrinkle(), StewartTrinkle(nonlinear=True), StewartTrinkle(active=0.1)])
def test_reruns_give_the_same_bits(scheme):
    sim = Simulator(ball(), 0.01, scheme=scheme)
    one = sim.run(0.6)
    sim.reset()
    same(one, sim.run(0.6))
    same(one, Simulator(ball(), 0.01, scheme=scheme).run(0.6))


@pytest.mark.parametrize("dt", [0.01, 0.0017, 0.1 / 3])
def test_two_runs_are_one_long_run(dt):
    whole = Simulator(ball(), dt).run(60 * dt)
    sim = Simulator(ball(), dt)
    first, second = sim.run(23 * dt), sim.run(37 * dt)
    assert len(first) == 24
    assert np.concatenate([first.times, second.times[1:]]).tobytes() == whole.times.tobytes()
    assert np.vstack([first.q, second.q[1:]]).tobytes() == whole.q.tobytes()
    assert np.vstack([first.v, second.v[1:]]).tobytes() == whole.v.tobytes()
    assert np.vstack([first.table.impulse, second.table.impulse]).tobytes() == whole.table.impulse.tobytes()


def test_steps_are_a_run():
    sim, other = Simulator(ball(), 0.01), Simulator(ball(), 0.01)
    states = [sim.step().state.q for _ in range(30)]
    np.testing.assert_array_equal(states, other.run(0.3).q[1:])
    assert sim.contacts is not None


def test_time_is_counted_in_steps():
    sim = Simulator(ball(t=3.0), 0.1)
    run = sim.run(1.0)
    np.testing.assert_array_equal(run.times, 3.0 + np.arange(11) * 0.1)
    assert sim.time == 4.0


def test_run_reaches_the_duration():
    assert Simulator(ball(), 0.1).run(0.25).times[-1] == pytest.approx(0.3)
    assert len(Simulator(ball(), 0.1).run(0.3)) == 4  # 0.3/0.1 is a little below 3
    assert len(Simulator(ball(), 0.01).run(1e-9)) == 2


def test_changing_the_state_by_hand_does_not_change_the_start():
    sim = Simulator(ball(), 0.01)
    sim.run(0.1)
    sim.reset()
    np.testing.assert_array_equal(sim.state.q, [0.0, 0.1])
    sim.state.q[1] = 5.0
    sim.reset()
    np.testing.assert_array_equal(sim.state.q, [0.0, 0.1])


def test_start_may_touch():
    assert Simulator(ball(q=[0.0, -1e-10]), 0.01).run(0.1).success


def test_certificate_reports_round_off():
    run = Simulator(ball(), 0.01).run(1.0)
    worst = run.certificate.worst
    assert worst["natural_map"] < 1e-12
    assert worst["penetration"] < 1e-14
    assert worst["energy"] < 1e-13
    assert "natural_map" in str(run.certificate)


def test_progress_bar_changes_nothing(capsys):
    same(Simulator(ball(), 0.01).run(0.2), Simulator(ball(), 0.01).run(0.2, progress=True))
    assert capsys.readouterr().out == ""
