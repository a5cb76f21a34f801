"""A tower of ten boxes stands for ten seconds."""

import numpy as np
import pytest

import stiction as st


@pytest.mark.long
def test_tower_of_ten_stands_ten_seconds():
    world = st.World()
    world.add_plane()
    boxes = [world.add_body(st.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5 + i)) for i in range(10)]
    run = st.Simulator(world, 0.005).run(10.0)
    moved = max(np.abs(run.position(box)[-1] - run.position(box)[0]).max() for box in boxes)
    assert moved < 1e-6
    assert run.certificate.worst["penetration"] < 1e-6
