"""Redraws the figures of the documentation: every experiment of the papers, into docs/images."""

from pathlib import Path

from stiction.papers import experiments

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Run every experiment and write its figures."""
    IMAGES.mkdir(exist_ok=True)
    for name, experiment in experiments().items():
        print(name)
        for figure_name, figure in experiment.run().figures().items():
            path = IMAGES / f"{figure_name}.png"
            figure.savefig(path, dpi=110)
            print(f"  {path.name}")


if __name__ == "__main__":
    main()
