"""What the first use of each part costs where nothing is compiled yet: CPU seconds, kernels, and their room on disk.

    python benchmarks/cold.py                                 # this checkout
    python benchmarks/cold.py --before ../other/src           # and another version beside it, in turns

Every version begins with an empty kernel cache. The cases run one after the other, each in a process of its own, and
find on disk what those before them have compiled. CPU seconds of all threads, which a busy machine changes little;
a second run of the same case, with all kernels on disk, is subtracted.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

README = """
import stiction as st
world = st.World()
world.set_material("default", friction=st.Coulomb(0.4))
floor = world.add_plane()
ball = world.add_body(st.Sphere(0.1), mass=5.0, position=(-1, 0, 0.25), velocity=(6, 0, 1), name="ball")
for i in range(5):
    world.add_body(st.Box((0.2, 0.2, 0.2)), density=500, position=(0, 0, 0.1 + 0.2 * i), name=f"box {i}")
"""
CASES = {
    "example of the README": README + "st.Simulator(world, dt=0.005).run(1.5)",
    "its first advance": README + "from stiction.simulation import loop; loop.COMPILE_MIN_STEPS = 0\n"
    "st.Simulator(world, dt=0.005).advance(10)",
    "planar slider-crank": "import stiction as st\n"
    "st.read_scene('{examples}/slider_crank.toml').simulator().advance(20)",
    "rolling friction": """
import stiction as st
world = st.World()
world.set_material("default", friction=st.Rolling(0.4, 0.001))
world.add_plane()
world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(1, 0, 0))
st.Simulator(world, dt=0.005).run(0.1)
""",
    "curved shapes": """
import stiction as st
world = st.World()
world.add_plane()
world.add_body(st.Cylinder(0.1, 0.2), mass=1.0, position=(0, 0, 0.12))
world.add_body(st.Ellipsoid((0.1, 0.2, 0.1)), mass=1.0, position=(0.02, 0, 0.34))
st.Simulator(world, dt=0.005).run(0.2)
""",
}
SCENES = Path(__file__).resolve().parent.parent / "examples" / "scenes"


def cpu_of(code, source, cache):
    """CPU seconds of a process that runs `code` with a version of the package and a kernel cache."""
    environment = {**os.environ, "PYTHONPATH": str(source), "STICTION_CACHE_DIR": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code.replace("{examples}", str(SCENES))], env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        sys.exit(run.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kept(cache):
    """How many kernels a cache holds, and their size [MB]."""
    files = [file for file in Path(cache).rglob("*") if file.suffix in (".kernel", ".nbc")]
    return len(files), sum(file.stat().st_size for file in files) / 1e6


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="the src folder of another version")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), help="cases, in their order")
    options = parser.parse_args()
    here = Path(__file__).resolve().parent.parent / "src"
    versions = {"before": options.before.resolve()} if options.before else {}
    versions["now"] = here
    caches = {name: tempfile.TemporaryDirectory() for name in versions}
    print(f"{'first use of':<24s}" + "".join(f"{name + ' [s]':>12s}{'kernels':>9s}{'MB':>7s}" for name in versions))
    for case in options.only:
        row = f"{case:<24s}"
        for name, source in versions.items():
            count, size = kept(caches[name].name)
            cold = cpu_of(CASES[case], source, caches[name].name)
            warm = cpu_of(CASES[case], source, caches[name].name)
            more, grown = kept(caches[name].name)
            row += f"{cold - warm:12.1f}{more - count:9d}{grown - size:7.1f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
