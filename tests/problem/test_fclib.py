"""FCLIB files and Siconos' text files: what is written is read back, and damaged files are refused with their field."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import stiction as st
from stiction import Bodies, ContactProblem, Delassus, Dense, Law, ModelError

FCLIB = Path(os.environ.get("STICTION_FCLIB", ""))
in_fclib = pytest.mark.skipif(
    "STICTION_FCLIB" not in os.environ or not (FCLIB / "hdf5").is_dir(),
    reason="STICTION_FCLIB does not name a folder with a subfolder hdf5/",
)


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.5 * np.eye(n)


def bits(a, b):
    np.testing.assert_array_equal(np.asarray(a).view(np.int64), np.asarray(b).view(np.int64))


def blocks(nc, dim, sizes=()):
    return {
        "row_ptr": np.cumsum([0, *[dim] * nc, *sizes]),
        "law": [Law.UNILATERAL] * nc + [Law.EQUALITY] * len(sizes),
    }


def local(nc=3, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(dim * nc, dim * nc - 2))
    mu = [0.0, *rng.uniform(0.1, 1.0, size=nc - 1)]
    return ContactProblem(
        Delassus(csr_matrix(A @ A.T)),
        b=rng.normal(size=dim * nc),
        friction=mu,
        **blocks(nc, dim),
        key=np.arange(nc) * 7,
    )


def bodies(d=6, joint=2, prescribed=True, seed=0):
    """Contacts 0-world, 1-2 and 1-world, a joint between 0 and 1; the last body moves as it is told."""
    rng = np.random.default_rng(seed)
    dim = 3 if d == 6 else 2
    arrays = blocks(3, dim, [joint])
    nr = arrays["row_ptr"][-1]
    Ja, Jb = rng.normal(size=(2, nr, d))
    Jb[dim * 0 : dim] = 0.0
    Jb[dim * 2 : dim * 3] = 0.0
    Minv = np.array([np.linalg.inv(spd(rng, d)) for _ in range(3)])
    if prescribed:
        Minv[2] = 0.0
    return ContactProblem(
        Bodies([0, 1, 1, 0], [-1, 2, -1, 1], Ja, Jb, Minv, arrays["row_ptr"]),
        v_free=rng.normal(size=3 * d),
        b=rng.normal(size=nr),
        friction=[0.3, 0.4, 0.0, None],
        length=np.where(np.arange(nr) < 3 * dim, 1.0, 0.2),
        p_warm=rng.normal(size=nr),
        **arrays,
    )


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dense", [False, True])
def test_local_round_trip_keeps_every_bit(tmp_path, dim, dense):
    problem = local(dim=dim)
    if dense:
        problem = problem.to_dense()
    st.write_fclib(problem, tmp_path / "a.hdf5", title="three contacts")
    back = st.read_fclib(tmp_path / "a.hdf5")
    assert isinstance(back.dynamics, Delassus)
    bits(back.delassus(), problem.delassus())
    bits(back.q, problem.q)
    bits(back.friction.mu, problem.friction.mu)
    for name in ("row_ptr", "law", "key", "p_warm"):
        np.testing.assert_array_equal(getattr(back, name), getattr(problem, name))


ROLLING = [st.Rolling(0.3, 0.01), st.Rolling(0.0, 0.02), st.Rolling(0.5, 0.0)]


@pytest.mark.parametrize("form", ["local", "global"])
def test_rolling_round_trip(tmp_path, form):
    rng = np.random.default_rng(6)
    problem = ContactProblem(
        Dense(spd(rng, 16), rng.normal(size=(15, 16))),
        v_free=rng.normal(size=16),
        friction=ROLLING,
        length=np.tile([1, 1, 1, 0.1, 0.1], 3),
        **blocks(3, 5),
    )
    st.write_fclib(problem, tmp_path / "a.hdf5", form=form)
    with h5py.File(tmp_path / "a.hdf5") as file:
        group = file[f"fclib_{form}_rolling"]
        assert group["spacedim"][()].tolist() == [5]
        assert group["vectors/mu"][()].tolist() == [0.3, 0.0, 0.5]
        assert group["vectors/mu_r"][()].tolist() == [0.01, 0.02, 0.0]
    back = st.read_fclib(tmp_path / "a.hdf5")
    assert back.friction.sets == tuple(ROLLING)
    np.testing.assert_array_equal(back.length, problem.length)
    np.testing.assert_allclose(back.delassus(), problem.delassus(), atol=1e-13)
    answer = st.solve(back, "nsgs", tol=1e-10)
    assert answer.success, answer.message
    assert problem.certify(answer.p).error <= 1.1e-10


def test_rolling_with_spin_is_refused(tmp_path):
    problem = ContactProblem(Delassus(np.eye(6)), friction=[st.Rolling(0.3, 0.01, 0.01)], **blocks(1, 6))
    with pytest.raises(ModelError, match="2, 3 or 5 rows"):
        st.write_fclib(problem, tmp_path / "a.hdf5")
    planar = ContactProblem(Delassus(np.eye(3)), friction=[st.Rolling(0.3, 0.01)], **blocks(1, 3))
    with pytest.raises(ModelError, match="this problem has Rolling"):
        st.write_fclib(planar, tmp_path / "a.hdf5")


def test_global_round_trip_of_matrices(tmp_path):
    rng = np.random.default_rng(1)
    problem = ContactProblem(
        Dense(spd(rng, 7), rng.normal(size=(8, 7))),
        v_free=rng.normal(size=7),
        b=rng.normal(size=8),
        friction=[0.3, 0.5, None],
        **blocks(2, 3, [2]),
    )
    st.write_fclib(problem, tmp_path / "a.hdf5")
    back = st.read_fclib(tmp_path / "a.hdf5")
    assert isinstance(back.dynamics, Dense)
    for ours, theirs in (
        (back.dynamics.M, problem.dynamics.M),
        (back.dynamics.H, problem.dynamics.H),
        (back.b, problem.b),
        (back.friction.mu, problem.friction.mu),
    ):
        bits(ours, theirs)
    np.testing.assert_allclose(back.v_free, problem.v_free, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(back.row_ptr, problem.row_ptr)


@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("prescribed", [False, True])
@pytest.mark.parametrize("form", ["local", "global"])
def test_bodies_round_trip(tmp_path, d, prescribed, form):
    problem = bodies(d, prescribed=prescribed)
    answer = st.solve(problem, "nsgs", tol=1e-10)
    assert answer.success, answer.message
    st.write_fclib(problem, tmp_path / "a.hdf5", form=form, solution=answer)
    back = st.read_fclib(tmp_path / "a.hdf5")
    assert isinstance(back.dynamics, Bodies if form == "global" else Delassus)
    np.testing.assert_allclose(back.delassus(), problem.delassus(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.q, problem.q, rtol=0, atol=1e-13)
    for name in ("row_ptr", "law", "key", "p_warm", "length"):
        np.testing.assert_array_equal(getattr(back, name), getattr(problem, name))
    assert back.certify(answer.p).error <= 1.1e-10
    if form == "global":
        moving = ~problem.dynamics.prescribed
        np.testing.assert_allclose(back.velocity(answer.p)[moving], answer.v[moving], rtol=0, atol=1e-12)
    with h5py.File(tmp_path / "a.hdf5") as file:
        rows = 9 if d == 6 else 6
        bits(np.concatenate([file["solution/r"][()], file["solution/l"][()]]), answer.p)
        np.testing.assert_allclose(file["solution/u"][()], answer.u[:rows], atol=1e-12)


def test_equalities_between_contacts_go_after_them(tmp_path):
    problem = local(3)
    mixed = problem.replace(law=[1, 0, 1], friction=[0.3, None, 0.4])
    st.write_fclib(mixed, tmp_path / "a.hdf5")
    back = st.read_fclib(tmp_path / "a.hdf5")
    order = [0, 1, 2, 6, 7, 8, 3, 4, 5]
    np.testing.assert_array_equal(back.delassus(), mixed.delassus()[np.ix_(order, order)])
    np.testing.assert_array_equal(back.key, [0, 14, 7])
    assert back.law.tolist() == [1, 1, 0]


def test_compliance_is_part_of_w(tmp_path):
    problem = local().replace(C=np.arange(9) * 0.1)
    st.write_fclib(problem, tmp_path / "a.hdf5")
    bits(st.read_fclib(tmp_path / "a.hdf5").delassus(), problem.delassus())


def test_layout_is_that_of_fclib(tmp_path):
    """The names, types and shapes of FCLIB's own files, which its C library asks for."""
    st.write_fclib(bodies(), tmp_path / "g.hdf5", title="t", description="d e", math_info="unique")
    st.write_fclib(local(), tmp_path / "l.hdf5")
    with h5py.File(tmp_path / "g.hdf5") as file:
        group = file["fclib_global"]
        assert group["spacedim"][()].tolist() == [3]
        for name, shape in (("M", (18, 18)), ("H", (18, 9)), ("G", (18, 2))):
            A = group[name]
            assert (int(A["m"][0]), int(A["n"][0])) == shape
            assert int(A["nz"][0]) == len(A["x"]) == len(A["i"]) == len(A["p"]) == int(A["nzmax"][0])
            assert A["i"].dtype == np.int32
            assert A["i"][()].max() < shape[0]  # i is the row
        assert group["vectors/b"].shape == (2,)
        assert [group[f"info/{name}"][()] for name in ("title", "description", "math_info")] == [
            b"t",
            b"d e",
            b"unique",
        ]
        assert group["info/title"].id.get_type().get_size() == 2  # with its zero byte
        assert file["guesses/number_of_guesses"][()].tolist() == [1]
        assert set(file["guesses/1"]) == {"r", "u", "v", "l"}
    with h5py.File(tmp_path / "l.hdf5") as file:
        W = file["fclib_local/W"]
        assert (int(W["nz"][0]), len(W["p"]), len(W["i"])) == (-2, 10, 81)
        assert set(file["fclib_local/vectors"]) == {"q", "mu"}
        assert "solution" not in file


def test_compressed_columns_and_triplets(tmp_path):
    problem = local()
    st.write_fclib(problem, tmp_path / "a.hdf5")
    W = csr_matrix(problem.delassus())
    for nz, i, p, x in (
        (-1, W.tocsc().indices, W.tocsc().indptr, W.tocsc().data),
        (W.nnz, W.tocoo().row, W.tocoo().col, W.tocoo().data),
    ):
        with h5py.File(tmp_path / "a.hdf5", "r+") as file:
            for name, value in (("nz", [nz]), ("i", i), ("p", p), ("x", x)):
                del file[f"fclib_local/W/{name}"]
                file[f"fclib_local/W/{name}"] = value
        bits(st.read_fclib(tmp_path / "a.hdf5").delassus(), problem.delassus())


def test_a_mass_matrix_that_is_not_symmetric_keeps_its_delassus_matrix(tmp_path):
    rng = np.random.default_rng(2)
    M, H = spd(rng, 6), rng.normal(size=(3, 6))
    st.write_fclib(ContactProblem(Dense(M, H), friction=[0.5], **blocks(1, 3)), tmp_path / "a.hdf5")
    M[0, 1] += 1e-3
    with h5py.File(tmp_path / "a.hdf5", "r+") as file:
        file["fclib_global/M/x"][...] = M.ravel()
    back = st.read_fclib(tmp_path / "a.hdf5")
    assert isinstance(back.dynamics, Delassus)
    np.testing.assert_allclose(back.delassus(), H @ np.linalg.solve(M, H.T), atol=1e-14)


def test_contacts_of_three_bodies_are_no_bodies_form(tmp_path):
    rng = np.random.default_rng(3)
    M = np.diag(rng.uniform(1, 2, size=18))
    problem = ContactProblem(Dense(M, rng.normal(size=(3, 18))), friction=[0.5], **blocks(1, 3))
    st.write_fclib(problem, tmp_path / "a.hdf5")
    assert isinstance(st.read_fclib(tmp_path / "a.hdf5").dynamics, Dense)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"law": [1, 2, 1], "friction": [0.3, None, 0.3]}, "block 1 is of law BOX"),
        ({"law": [1, 1, 3], "r0": [0, 0, 0.1], "friction": [0.3, 0.3, st.Polyhedral(1, directions=np.eye(3))]}, "DRY"),
        ({"associated": True}, "associated law"),
        ({"r0": [0.0, 0.1, 0.0]}, "r0"),
        ({"friction": [st.Coulomb(0.3).polyhedral(2, 6)] * 3}, "isotropic Coulomb"),
        ({"law": [0, 0, 0], "friction": None}, "has none"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, change, match):
    with pytest.raises(ModelError, match=match):
        st.write_fclib(local().replace(**change), tmp_path / "a.hdf5")
    assert list(tmp_path.iterdir()) == []


def test_contacts_of_different_rows_are_refused(tmp_path):
    problem = ContactProblem(Delassus(np.eye(5)), row_ptr=[0, 2, 5], law=[1, 1], friction=[0.3, 0.4])
    with pytest.raises(ModelError, match="here they have 2, 3"):
        st.write_fclib(problem, tmp_path / "a.hdf5")


def test_writing_refuses_bad_places_and_forms(tmp_path):
    with pytest.raises(ModelError, match="there is no folder"):
        st.write_fclib(local(), tmp_path / "no" / "a.hdf5")
    with pytest.raises(ModelError, match="is a folder"):
        st.write_fclib(local(), tmp_path)
    with pytest.raises(ModelError, match="has no masses"):
        st.write_fclib(local(), tmp_path / "a.hdf5", form="global")
    with pytest.raises(ModelError, match="form must be one of"):
        st.write_fclib(local(), tmp_path / "a.hdf5", form="globl")
    with pytest.raises(ModelError, match="solution must have shape"):
        st.write_fclib(local(), tmp_path / "a.hdf5", solution=np.zeros(4))
    assert list(tmp_path.iterdir()) == []


DAMAGE = {  # what is done to a file, and what the message must name
    "fclib_local/vectors/mu": (None, "fclib_local/vectors/mu is missing"),
    "fclib_local/vectors/q": (np.zeros(8), "W must be 8 by 8, as the vectors have it"),
    "fclib_local/spacedim": ([4], "spacedim"),
    "fclib_local/W/m": ([8], "W must be 9 by 9, .* m is 8"),
    "fclib_local/W/n": ([10**9], "W must be 9 by 9"),
    "fclib_local/W/i": (np.full(81, 9), "W/i must hold indices from 0 to 8"),
    "fclib_local/W/nz": ([90], "W must have 90 triplets"),
    "fclib_local/W/p": (np.zeros(3, dtype=int), "W/p must have 10"),
    "fclib_local/W/x": (np.full(81, np.nan), r"fclib_local/W/x must be finite"),
    "fclib_local/W": (None, "fclib_local/W/m is missing"),
    "guesses/1/r": (np.zeros(3), "guesses/1/r must have shape"),
}


@pytest.mark.parametrize("field", DAMAGE)
def test_damaged_files_name_their_field(tmp_path, field):
    path = tmp_path / "a.hdf5"
    st.write_fclib(local().replace(p_warm=np.ones(9)), path)
    value, match = DAMAGE[field]
    with h5py.File(path, "r+") as file:
        del file[field]
        if value is not None:
            file[field] = value
    with pytest.raises(ModelError, match=match) as caught:
        st.read_fclib(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_negative_friction_is_refused(tmp_path):
    st.write_fclib(local(), tmp_path / "a.hdf5")
    with h5py.File(tmp_path / "a.hdf5", "r+") as file:
        file["fclib_local/vectors/mu"][1] = -0.1
    with pytest.raises(ModelError, match=r"mu\[1\] is -0.1"):
        st.read_fclib(tmp_path / "a.hdf5")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9, 0.99])
def test_truncated_files(tmp_path, share):
    st.write_fclib(bodies(), tmp_path / "a.hdf5")
    data = (tmp_path / "a.hdf5").read_bytes()
    path = tmp_path / "cut.hdf5"
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError, match="damaged or cut short"):
        st.read_fclib(path)


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(ModelError, match="there is no file"):
        st.read_fclib(path)
    for content in (b"", b"\xff\xfe\x00", b"hello", b"2\n0\n2\n2\n2 2\n1 1 1 1\n-1 -1\n", b"1\n1\n3\n4\n"):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"x: this is neither"):
            st.read_fclib(path)
    path.write_text("3\n0\n0\n0\n0\n")
    with pytest.raises(ModelError, match="x: the problem has no contacts; there is nothing to solve"):
        st.read_fclib(path)
    with h5py.File(path, "w") as file:
        file["other"] = 1
    with pytest.raises(ModelError, match="this one has none"):
        st.read_fclib(path)


# Siconos' text form


def words(values):
    return " ".join(f"{x:.17g}" for x in np.asarray(values).ravel(order="F"))


def dense_text(A):
    m, n = A.shape
    return f"0\n{m}\n{n}\n{m}\t{n}\n{words(A)}\n"


def blocks_text(A, rows, columns):
    """Every block that is not zero, compressed by rows."""
    i, j = np.cumsum([0, *rows]), np.cumsum([0, *columns])
    pointers, index, values = [0], [], []
    for r in range(len(rows)):
        for c in range(len(columns)):
            block = A[i[r] : i[r + 1], j[c] : j[c + 1]]
            if block.any():
                values.append(f"{len(index)}\n" + words(block).replace(" ", "\n"))
                index.append(c)
        pointers.append(len(index))
    head = [1, *A.shape, len(index), len(rows), len(columns)]
    lines = [*head, words(i[1:]), words(j[1:]), len(pointers), len(index), words(pointers), words(index), *values]
    return "\n".join(str(line) for line in lines) + "\n"


def sparse_text(A, origin):
    B = A.T if origin == 3 else A
    remark = "CSparse Version 3.1.9, May 4, 2016."
    size = f"{B.shape[0]}-by-{B.shape[1]}, nzmax: {np.count_nonzero(B)} nnz: {np.count_nonzero(B)}"
    lines = ["2", *map(str, A.shape), str(origin), remark, f"triplet: {size}" if origin == 1 else f"{size}, 1-norm: 1"]
    for c in range(B.shape[1]):
        rows = np.flatnonzero(B[:, c])
        if origin != 1:
            lines.append(f"    col {c} : locations 0 to 1")
        lines += [f"      {r} {c} : {B[r, c]:.17g}" if origin == 1 else f"      {r} : {B[r, c]:.17g}" for r in rows]
    return "\n".join(lines) + "\n"


def text_matrices(A, rows, columns):
    yield dense_text(A)
    yield blocks_text(A, rows, columns)
    for origin in (1, 2, 3):
        yield sparse_text(A, origin)


@pytest.mark.parametrize("flag", ["", "0\n", "1\n"])
@pytest.mark.parametrize("dim", [2, 3])
def test_local_text(tmp_path, dim, flag):
    rng = np.random.default_rng(4)
    n = 3 * dim
    W, q, mu = rng.normal(size=(n, n)), rng.normal(size=n), [0.3, 0.0, 0.7]
    W[:dim, dim : 2 * dim] = 0.0
    for matrix in text_matrices(W, [dim] * 3, [dim] * 3):
        (tmp_path / "a.dat").write_text(f"{dim}\n3\n{matrix}{words(q)}\n{words(mu)}\n{flag}")
        problem = st.read_fclib(tmp_path / "a.dat")
        assert isinstance(problem.dynamics, Delassus)
        bits(problem.delassus(), W)
        bits(problem.q, q)
        assert problem.friction.mu.tolist() == mu
        assert problem.row_ptr.tolist() == [0, dim, 2 * dim, n]


@pytest.mark.parametrize("nv", [12, 6])  # 6: as many velocities as rows, so that only the length tells
def test_global_text(tmp_path, nv):
    rng = np.random.default_rng(5)
    M, H = np.zeros((nv, nv)), rng.normal(size=(nv, 6))
    for i in range(0, nv, 6):
        M[i : i + 6, i : i + 6] = spd(rng, 6)
    f, w = rng.normal(size=nv), rng.normal(size=6)
    for first, second in zip(text_matrices(M, [6] * (nv // 6), [6] * (nv // 6)), text_matrices(H, [nv], [3, 3])):
        (tmp_path / "a.dat").write_text(f"3\n2\n{first}{second}{words(f)}\n{words(w)}\n0.3 0.4\n1\n")
        problem = st.read_fclib(tmp_path / "a.dat")
        assert isinstance(problem.dynamics, Bodies)
        np.testing.assert_allclose(problem.delassus(), H.T @ np.linalg.solve(M, H), atol=1e-12)
        np.testing.assert_allclose(problem.q, H.T @ np.linalg.solve(M, f) + w, atol=1e-12)


def test_rolling_text(tmp_path):
    W = spd(np.random.default_rng(7), 10)
    (tmp_path / "a.dat").write_text(f"5\n2\n{dense_text(W)}{words(-np.ones(10))}\n0.3 0.4\n0.1 0\n")
    problem = st.read_fclib(tmp_path / "a.dat")
    assert problem.friction.sets == (st.Rolling(0.3, 0.1), st.Rolling(0.4, 0.0))
    bits(problem.delassus(), W)
    # as many coefficients as a problem without rolling has: mu_r is missing
    (tmp_path / "a.dat").write_text(f"5\n2\n{dense_text(W)}{words(-np.ones(10))}\n0.3 0.4\n")
    with pytest.raises(ModelError, match="14 numbers of q, mu and mu_r must follow"):
        st.read_fclib(tmp_path / "a.dat")


GOOD = "2\n2\n0\n4\n4\n4\t4\n" + words(np.eye(4)) + "\n-1 0 -1 0\n0.3 0.4\n"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (GOOD.replace("0.4\n", "\n"), "6 numbers of q and mu must follow"),
        (GOOD.replace("4\t4", "4\t3"), "two different sizes"),
        (GOOD.replace("-1 0 -1 0", "-1 0 nan 0"), "q must be finite"),
        (GOOD.replace("-1 0 -1 0", "-1 0 x 0"), "q must be numbers"),
        (GOOD.replace("0.3", "-0.3"), r"mu\[0\] is -0.3"),
        (GOOD[:30], "ends before the 16 numbers of W or M"),
        (GOOD.replace("2\n2\n0", "2\n2\n7"), "storage of W or M must be 0"),
        (GOOD.replace("2\n2\n0", "2\n3\n0"), "storage of H"),
        (GOOD + "1 2 3\n", "storage of H"),
        ("2\n1\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n0\n1\n1 0 0 1\n", "block 0 is missing"),
        ("2\n1\n1\n2\n2\n1\n1\n1\n3\n2\n2\n1\n0 1\n0\n0\n1 0 0 1\n", "block sizes of W or M"),
        ("2\n1\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 9\n0\n0\n1 0 0 1\n", "row index of W or M"),
        ("2\n1\n2\n2\n2\n2\nCSparse\n3-by-3, nzmax: 1 nnz: 1\n", "its printout is 3 by 3"),
        ("2\n1\n2\n2\n2\n2\nCSparse\nsomething\n", "as CSparse prints them"),
        (
            "2\n1\n2\n2\n2\n2\nCSparse\n2-by-2, nzmax: 1 nnz: 3\n col 0 : locations 0 to 1\n 5 : 1\n",
            "an index of W or M",
        ),
    ],
)
def test_damaged_text(tmp_path, text, match):
    path = tmp_path / "a.dat"
    path.write_text(text)
    with pytest.raises(ModelError, match=match) as caught:
        st.read_fclib(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("storage", range(5))
def test_text_damaged_at_random_is_read_or_refused(tmp_path, storage):
    """Words changed at random: a problem comes out, or one `ModelError` that begins with the file."""
    rng = np.random.default_rng(storage)
    matrix = list(text_matrices(spd(rng, 6), [3, 3], [3, 3]))[storage]
    source = f"3\n2\n{matrix}{words(-np.ones(6))}\n0.3 0.4\n1\n".encode()
    messages = []
    for _ in range(300):
        data = bytearray(source)
        for k in rng.integers(len(source), size=rng.integers(1, 6)):
            data[k : k + rng.integers(5)] = rng.choice([b"", b" nan ", b" 1e400 ", b" -1 ", b" 99999999999 ", b"x"])
        (tmp_path / "b").write_bytes(data)
        try:
            st.read_fclib(tmp_path / "b")
        except ModelError as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert all(text.startswith(f"{tmp_path / 'b'}: ") and len(text) < 600 for text in messages)


def test_frictionless_contacts_are_solved(tmp_path):
    """mu = 0 in a three-row contact: the normal rows alone, an LCP."""
    problem = local().replace(friction=[0.0, 0.0, 0.0])
    st.write_fclib(problem, tmp_path / "a.hdf5")
    answer = st.solve(st.read_fclib(tmp_path / "a.hdf5"), "nsgs", tol=1e-10)
    assert answer.success, answer.message
    n = np.arange(0, 9, 3)
    z = st.lcp.lemke(problem.delassus()[np.ix_(n, n)], problem.q[n]).z
    np.testing.assert_allclose(answer.p[n], z, atol=1e-8)
    assert not np.delete(answer.p, n).any()


# the collection itself

KINDS = {  # rows, dynamics, rank of W
    "dat/Confeti-ex13-4contact-Fc3D-SBM.dat": (12, Delassus, 9),
    "dat/FC2D_SliderCrankLagrangian00000.dat": (4, Delassus, 3),
    "dat/FC3D_Example1.dat": (9, Delassus, 9),
    "dat/FrictionContact3D_1c.dat": (3, Delassus, 3),
    "dat/FrictionContactProblem00031.dat": (22, Delassus, 22),
    "dat/FrictionContactProblem00071.dat": (178, Delassus, 178),
    "dat/FrictionContactProblem00394.dat": (12, Delassus, 12),
    "dat/GFC3D_TwoRods1.dat": (9, Dense, 9),
    "dat/KaplasTower-i1061-4.hdf5.dat": (1710, Delassus, 504),
    "dat/NESpheres_10_1.dat": (27, Delassus, 27),
    "dat/OneObject-i100000-499.hdf5.dat": (72, Delassus, 49),
    "dat/Rover1039.dat": (12, Delassus, 12),
    "dat/Rover11035.dat": (3, Delassus, 3),
    "dat/Rover4396.dat": (6, Delassus, 6),
    "dat/Rover4609.dat": (15, Delassus, 14),
    "dat/fc2d_granularflowonwall_00667_00000.dat": (1334, Delassus, 1334),
    "hdf5/Box_Stacks-i0035-31-0.hdf5": (93, Bodies, 93),
    "hdf5/Capsules-i97-269.hdf5": (648, Delassus, 451),
    "hdf5/Chute-ndof-768-nc-4-3.hdf5": (20, Delassus, 20),
    "hdf5/CubeH8.hdf5": (3, Delassus, 3),
    "hdf5/Spheres-i099-356-679.hdf5": (1068, Bodies, 1068),
    "hdf5/fclib_local_problem_test.hdf5": (144, Delassus, 72),
    "hdf5/spheres-in-a-box-98-i10000-256-10.hdf5": (768, Bodies, 566),
    "rolling/RFC3D_cube_1.dat": (10, Delassus, 6),
    "rolling/RFC3D_sphere_1.dat": (5, Delassus, 5),
}


@pytest.mark.long
@in_fclib
@pytest.mark.parametrize("name", KINDS)
def test_files_of_the_collection(tmp_path, name):
    """Shapes, forms, and that W is symmetric (nearly: capsules, rovers) and positive semidefinite, with its rank."""
    problem = st.read_fclib(FCLIB / name)
    rows, form, rank = KINDS[name]
    assert (problem.nr, type(problem.dynamics)) == (rows, form)
    W = problem.delassus()
    digits = 1e-6 if name.endswith("SBM.dat") else 1e-14  # printed with six digits
    assert np.abs(W - W.T).max() <= 2e-3 * np.abs(W).max()
    eigenvalues = np.linalg.eigvalsh(0.5 * (W + W.T))
    assert eigenvalues[0] >= -digits * eigenvalues[-1]
    assert (eigenvalues > 1e-10 * eigenvalues[-1]).sum() == rank
    st.write_fclib(problem, tmp_path / "again.hdf5")
    again = st.read_fclib(tmp_path / "again.hdf5")
    np.testing.assert_allclose(again.delassus(), W, rtol=0, atol=1e-14 * np.abs(W).max())
    np.testing.assert_allclose(again.q, problem.q, rtol=0, atol=1e-13 * np.abs(problem.q).max())


@pytest.mark.long
@in_fclib
@pytest.mark.parametrize("path", sorted((FCLIB / "lcp").glob("*.dat")), ids=lambda p: p.name)
def test_complementarity_files_are_refused(path):
    with pytest.raises(ModelError, match=r"st\.lcp\.lemke"):
        st.read_fclib(path)
