"""Pictures that the viewer's page draws per second, in a Chromium without a screen: turned by the mouse, and played.

    python benchmarks/viewer.py [--spheres 10 1000 10000] [--draw software|vulkan] [--shots FOLDER]

Needs the extra `view`, Playwright and Chromium. Spheres fall onto a plane and spread. `vulkan` draws on a graphics
card; what draws is printed first, because Chromium falls back to software where it finds none. viser draws only when
something changes, so that animation frames say nothing: counted is how often the drawing begins anew.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import stiction as st

FLAGS = {
    "software": ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    "vulkan": ["--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface", "--ignore-gpu-blocklist"],
}
COUNT = """
    window.drawn = 0; window.gaps = []; window.last = performance.now();
    const clear = WebGL2RenderingContext.prototype.clear;
    WebGL2RenderingContext.prototype.clear = function (...what) {
        const now = performance.now(); window.drawn++; window.gaps.push(now - window.last); window.last = now;
        return clear.apply(this, what);
    }"""
WHO = """() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
}"""
FPS, SECONDS = 30, 1.6


def recorded(spheres, path):
    """A lattice of spheres, ten layers deep, that falls onto a plane."""
    world = st.World()
    world.add_plane()
    rng, side = np.random.default_rng(1), max(1, round((spheres / 10) ** 0.5))
    for i in range(spheres):
        x, y = 0.11 * np.array([i % side, i // side % side]) + 0.01 * rng.random(2)
        world.add_body(st.Sphere(0.05), density=1000.0, position=(x, y, 0.06 + 0.11 * (i // side**2)))
    frames = SECONDS if spheres <= 1000 else SECONDS * 1000 / spheres + 0.2  # large files take long to write
    return st.Simulator(world, dt=1 / 120, tol=1e-2).run(frames, record=path, fps=FPS)


def counted(page, work):
    """Pictures per second while `work` goes on, and the median and the 95th percentile of the time between two [ms]."""
    page.evaluate("window.gaps = []")
    before, start = page.evaluate("window.drawn"), time.perf_counter()
    work(start)
    rate = (page.evaluate("window.drawn") - before) / (time.perf_counter() - start)
    gaps = page.evaluate("window.gaps") or [np.nan]
    return f"{rate:5.1f} pictures/s, {np.median(gaps):5.1f} ms apart (95 %: {np.percentile(gaps, 95):.0f} ms)"


def turn(page):
    """Drag the scene for five seconds."""

    def work(start):
        i = 0
        while time.perf_counter() - start < 5.0:
            i += 1
            page.mouse.move(500 + 80 * np.sin(i / 5), 400 + 20 * np.cos(i / 5))

    page.mouse.move(500, 400)
    page.mouse.down()
    said = counted(page, work)
    page.mouse.up()
    return said


def measure(browser, spheres, folder, shots):
    from stiction.view.web.viewer import Viewer

    run = recorded(spheres, folder / f"{spheres}.h5")
    viewer = Viewer(run, port=8480, playing=False)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(COUNT)
    page.goto(viewer.url)
    page.get_by_role("button", name="Play").wait_for(timeout=120_000)
    viewer.go(len(run) - 1)
    time.sleep(8.0)
    print(f"{spheres:6d} spheres, turned  {turn(page)}", flush=True)
    if shots is not None:
        page.screenshot(path=shots / f"viewer-{spheres}.png")
    viewer.go(0)
    time.sleep(3.0)

    def play(_):
        viewer.play()
        time.sleep(0.95 * (len(run) - 1) / FPS)

    print(f"{'':6s}          played  {counted(page, play)}; {FPS} frames/s sent at most", flush=True)
    page.close()
    viewer.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spheres", type=int, nargs="+", default=[10, 1000, 10_000])
    parser.add_argument("--draw", choices=FLAGS, default="software")
    parser.add_argument("--shots", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--use-gl=angle", *FLAGS[options.draw]]
        )
        page = browser.new_page()
        print("drawn by", page.evaluate(WHO), flush=True)
        page.close()
        for spheres in options.spheres:
            measure(browser, spheres, Path(folder), options.shots)
        browser.close()


if __name__ == "__main__":
    main()
