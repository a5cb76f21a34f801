"""The viewer in a real browser: headless Chromium, driven by Playwright; pictures are kept in build/screenshots."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stiction as st

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
PICTURES = Path(os.environ.get("STICTION_SCREENSHOTS", Path(__file__).parents[2] / "build" / "screenshots"))
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 60.0  # s, on a slow machine without a graphics card

JOIN = """url => new Promise(done => {
    const socket = new WebSocket(url);
    socket.onopen = () => { done("open"); socket.close(); };
    socket.onerror = () => done("refused");
})"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; install it from the system's packages"),
]


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install stiction[view]")
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def tower(tmp_path_factory):
    world = st.World(gravity=(0, 0, -9.81))
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    for i in range(4):
        world.add_body(st.Box((0.4, 0.3, 0.2)), name=f"box{i}", mass=1.0, position=(0, 0, 0.1001 + 0.2001 * i))
    world.add_body(st.Sphere(0.15), name="ball", mass=2.0, position=(-1.2, 0, 0.4), velocity=(4, 0, 0.5))
    path = tmp_path_factory.mktemp("tower") / "tower.h5"
    st.Simulator(world, dt=0.005).run(1.0, fps=60, record=path)
    return path


class Page:
    """A page of a viewer, and everything its console said."""

    def __init__(self, browser, viewer, name):
        self.viewer, self.name, self.errors = viewer, name, []
        self.page = browser.new_page(viewport={"width": 1280, "height": 800})
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(viewer.url)
        self.page.get_by_role("button", name=re.compile("Play|Pause")).wait_for(timeout=1000 * PATIENCE)
        wait_for(lambda: self.drawn() > 0.02)

    def pixels(self):
        """(h, w, 3) of the scene, without the notice about software rendering on its left and the panel."""
        from matplotlib.image import imread

        return imread(io.BytesIO(self.page.screenshot()))[:, 320:880, :3]

    def drawn(self):
        """The part of the scene that has colour: bodies and contacts, not the grid and the ground."""
        pixels = self.pixels()
        return float((np.ptp(pixels, axis=2) > 0.06).mean())

    def shows(self, text):
        wait_for(lambda: re.search(text, self.page.inner_text("body")))

    def keep(self, label):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{self.name}-{label}.png")

    def place(self, body):
        """Where the centre of a body is on the screen [pixels]."""
        camera = next(iter(self.viewer.server.get_clients().values())).camera
        stage, frame = self.viewer.stage, self.viewer.reel.frame(self.viewer.frame)
        w, *u = camera.wxyz
        arm = stage.poses(frame)[0][body] - camera.position
        t = 2.0 * np.cross(np.negative(u), arm)
        x, y, depth = arm + w * t + np.cross(np.negative(u), t)
        box = self.page.locator("canvas").first.bounding_box()
        unit = 0.5 * box["height"] / np.tan(0.5 * camera.fov) / depth
        return box["x"] + 0.5 * box["width"] + unit * x, box["y"] + 0.5 * box["height"] + unit * y

    def close(self):
        self.page.close()
        self.viewer.stop()


def height(element):
    """Of what is seen of an element [pixels]."""
    box = element.bounding_box()
    return 0.0 if box is None else box["height"]


def typed(box, text):
    """Type into a field of the panel; what the page is told of in between may undo it, on a slow machine."""
    box.fill(text)
    box.press("Enter")
    time.sleep(1.0)


def wait_for(true, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.2)


@pytest.fixture
def opened(browser):
    from stiction.view.web.viewer import Viewer

    pages = []

    def open_page(what, name, **options):
        pages.append(Page(browser, Viewer(what, port=8230, **options), name))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


def test_a_recording_plays_scrubs_steps_and_tells_of_bodies(opened, tower):
    page = opened(tower, "tower")
    viewer = page.viewer
    last = len(viewer.reel) - 1
    page.keep("start")
    page.shows(rf"frame 0 of {last}")

    page.page.get_by_role("button", name="Play").click()
    wait_for(lambda: viewer.frame > 5)
    page.shows(rf"frame {last} of {last}")
    assert not viewer.playhead.playing
    page.keep("end")

    box = page.page.get_by_role("textbox").first
    wait_for(lambda: typed(box, "17") or viewer.frame == 17)
    page.shows(rf"frame 17 of {last}")
    page.page.get_by_text(">", exact=True).click()
    page.shows(rf"frame 18 of {last}")
    page.page.get_by_text("|<", exact=True).click()
    page.shows(rf"frame 0 of {last}")

    viewer.go(40)
    page.shows(rf"frame 40 of {last}")
    ball = viewer.stage.names.index("ball")
    time.sleep(1.0)  # until the picture is that of the frame
    page.page.mouse.click(*page.place(ball))
    page.shows("speed")
    told = dict(viewer.stage.numbers(viewer.reel.frame(40), ball))
    page.shows(re.escape(told["position [m]"]))
    page.shows(re.escape(told["velocity [m/s]"]))
    page.keep("picked")

    page.page.get_by_text("Show", exact=True).click()
    before = page.pixels()
    page.page.get_by_text("See through bodies").click()
    wait_for(lambda: np.abs(page.pixels() - before).mean() > 1e-3)
    page.page.get_by_text("Trails").click()
    page.page.get_by_text("Normals").click()
    time.sleep(1.0)
    page.keep("see-through")
    assert page.errors == []


def test_a_planar_world_is_seen_from_the_front(opened):
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    world.add_plane(normal=(0.0, 1.0), offset=0.0)
    for i in range(5):
        world.add_body(
            st.Polygon([(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)]),
            mass=1.0, position=(0.02 * i, 0.1001 + 0.2001 * i),
        )  # fmt: skip
    disk = world.add_body(st.Disk(0.15), name="disk", mass=2.0, position=(-1.2, 0.15), velocity=(3.0, 0.0))
    a = world.add_body(st.Rod(0.04, 0.5), mass=0.5, position=(1.25, 1.0))
    b = world.add_body(st.Rod(0.04, 0.5), mass=0.5, position=(1.83, 1.0))
    world.add_joint(st.Revolute(a, b, anchor=(1.54, 1.0)))
    page = opened(st.Simulator(world, dt=0.005).run(0.3), "planar")
    page.keep("start")
    low = page.page.evaluate("() => window.innerHeight")
    x, y = page.place(page.viewer.stage.names.index(disk.name))
    assert 0 < x < 880
    assert 0.5 * low < y < low  # the disk lies low, the floor below it
    other = page.place(page.viewer.stage.names.index(a.name))
    assert other[0] > x
    assert other[1] < y
    page.viewer.go(60)
    page.shows("frame 60 of 60")
    page.page.mouse.click(*page.place(page.viewer.stage.names.index(disk.name)))
    page.shows("angle")
    page.keep("end")
    assert page.errors == []


def test_a_thousand_bodies(opened):
    world = st.World(gravity=(0, 0, -9.81))
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    rng = np.random.default_rng(1)
    for i in range(1000):
        x, y = 0.11 * np.array([i % 10, i // 10 % 10]) + 0.01 * rng.random(2)
        world.add_body(st.Sphere(0.05), density=1000.0, position=(x, y, 0.06 + 0.11 * (i // 100)))
    page = opened(st.Simulator(world, dt=0.005).run(0.4, fps=20), "thousand")
    page.viewer.go(8)
    page.shows("frame 8 of 8")
    assert page.drawn() > 0.05
    page.keep("heap")
    page.page.get_by_text("Show", exact=True).click()
    page.page.get_by_text("See through bodies").click()
    time.sleep(3.0)
    page.keep("see-through")
    assert page.errors == []


def test_a_live_run_is_followed(opened):
    world = st.World(gravity=(0, 0, -9.81))
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 1.0), velocity=(0.5, 0, 0))
    from stiction.view.web.reel import LiveReel

    simulator = st.Simulator(world, dt=0.01)
    reel = LiveReel(simulator)
    page = opened(reel, "live")
    page.keep("start")
    run = simulator.run(1.0, progress=reel.add)
    page.shows(rf"frame {len(run) - 1} of {len(run) - 1} \(newest\)")
    page.page.get_by_role("button", name="Pause").click()
    page.page.get_by_role("button", name="Play").wait_for()
    page.keep("end")
    assert page.drawn() > 0.002  # the floor was in the picture from the start
    assert page.errors == []


def test_a_page_opens_by_the_printed_address_only(opened, browser, tower):
    page = opened(tower, "guarded")  # by its address
    viewer, bare = page.viewer, page.viewer.url.partition("?")[0]
    joined = f"ws://localhost:{viewer.port}"
    assert page.page.evaluate(JOIN, joined) == "open"
    cookies = [cookie for cookie in page.page.context.cookies() if cookie["value"] == viewer.guard.token]
    assert [(c["name"], c["httpOnly"], c["sameSite"]) for c in cookies] == [(f"stiction-{viewer.port}", True, "Strict")]

    with browser.new_context() as other:  # a browser that has not seen the address
        stranger = other.new_page()
        for address in (bare, bare + "?token=wrong", bare + "index.html"):
            assert stranger.goto(address).status == 403
        assert "Open the address that the program has printed" in stranger.inner_text("body")
        assert stranger.evaluate(JOIN, joined) == "refused"

    elsewhere = "http://localhost:8999/"  # another server of this machine, to whose pages the browser gives the cookie
    page.page.route(elsewhere, lambda route: route.fulfill(body="<html></html>", content_type="text/html"))
    page.page.goto(elsewhere)
    assert page.page.evaluate(JOIN, joined) == "refused"
    wait_for(lambda: not viewer.server.get_clients())

    page.page.goto(bare)  # this browser has the cookie
    page.page.get_by_role("button", name="Play").wait_for(timeout=1000 * PATIENCE)
    page.keep("again")


def test_a_page_left_open_says_that_the_server_has_stopped(opened, tower):
    page = opened(tower, "stopped")
    page.viewer.stop()
    page.shows("The viewer has stopped")
    page.keep("notice")


def test_a_page_says_that_the_server_was_killed(browser, tower):
    code = "import sys; from stiction.view.web.viewer import show; "
    code += "show(sys.argv[1], port=8260, open_browser=False, wait=True)"
    server = subprocess.Popen([sys.executable, "-c", code, str(tower)], stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", server.stdout.readline()).group()
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        alert = page.get_by_role("alert").filter(has_text="program behind this page")
        alert.wait_for(state="attached", timeout=1000 * PATIENCE)
        time.sleep(8.0)
        assert height(alert) < 1.0  # the program is there
        server.send_signal(signal.SIGKILL)
        wait_for(lambda: height(alert) > 20.0)
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / "killed.png")
        page.close()
    finally:
        server.kill()
        server.wait()
