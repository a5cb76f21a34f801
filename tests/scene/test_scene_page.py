"""The examples of docs/scenes.md are scenes, and run; its Python and its commands are run by tests/test_pages.py."""

import re
from pathlib import Path

import numpy as np
import pytest

import stiction as st
from stiction.scene import parse_scene

PAGE = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text()
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)
HEAD = 'stiction = 1\n[world]\nkind = "space"\n'
RUN = "[run]\ndt = 0.005\nduration = 0.1\n"


def whole(block):
    """A block of the page with what it leaves out."""
    if "stiction = 1" in block:
        return block
    return (
        HEAD + RUN + block + ('[[bodies]]\nname = "floor"\nshape = { type = "Plane" }\n' if "arrays" in block else "")
    )


def test_there_are_blocks_of_every_kind():
    text = "".join(BLOCKS)
    for word in ("Grid", "Pile", "Wall", "Arch", "Chain", "Random", "Revolute", "Rotation", "Torsional", "Moreau"):
        assert f'"{word}"' in text
    assert len(BLOCKS) == 3


@pytest.mark.long
@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_scenes_of_the_page_run(block):
    scene = parse_scene(whole(block))
    run = scene.simulator().run(0.05, progress=False)
    assert run.success
    assert np.isfinite(run.q).all()


def test_arrays_are_named_by_number_and_stand_apart():
    scene = parse_scene(whole(BLOCKS[2]))
    names = [body.name for body in scene.world.bodies]
    for name, count in (("crate", 6), ("cannonball", 14), ("brick", 11), ("stone", 11), ("link", 5), ("grain", 20)):
        assert [n for n in names if n.startswith(f"{name} ")] == [f"{name} {i}" for i in range(count)]
    sim = scene.simulator(on_overlap="raise")  # nothing overlaps at the start
    state = sim.state
    gaps = sim.system.gaps(found := sim.system.detect(state.t, state.q, 1e-6), state.t, state.q)
    assert np.count_nonzero(found.contact & (gaps < 1e-9)) > 40  # and what is laid upon each other touches


def test_the_errors_of_the_page_are_those_that_are_said(tmp_path):
    from stiction.cli.new import starter

    text = starter("tower").replace("dt = 0.005", 'dt = "0.005 s"').replace("radius = 0.1", "raduis = 0.1")
    (tmp_path / "demo.toml").write_text(text)
    with pytest.raises(st.SceneError) as error:
        st.read_scene(tmp_path / "demo.toml")
    shown = re.search(r"error: demo.toml: 3 errors\n(.*?)```", PAGE, re.S).group(1)
    assert sorted(line.strip() for line in shown.splitlines()) == sorted(error.value.problems)
