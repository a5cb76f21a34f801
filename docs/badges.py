"""Draws the badges of the README from what the project says of itself: python docs/badges.py"""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
BADGES = {  # the name of the file: what it is, what it says, and the colour of that
    "python": ("python", PROJECT["requires-python"].replace(">=", "") + " or newer", "#1b62a5"),
    "licence": ("licence", PROJECT["license"], "#1b62a5"),
    "compiler": ("compiler", "not needed", "#2a7f68"),
}
WIDTH, PAD = 6.6, 8  # pixels: of a letter of 11 pixels, on the average; and of the margin


def badge(left: str, right: str, colour: str) -> str:
    """An SVG of two words, readable on light and dark pages."""
    a, b = (round(len(word) * WIDTH + 2 * PAD) for word in (left, right))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" role="img" aria-label="{left}: {right}">'
        f'<rect width="{a + b}" height="20" rx="3" fill="#41464d"/>'
        f'<path d="M{a} 0h{b - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{b - 3}z" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{a / 2}" y="14">{left}</text><text x="{a + b / 2}" y="14">{right}</text></g></svg>\n'
    )


def main() -> None:
    """Write them all."""
    for name, words in BADGES.items():
        (HERE / "images" / f"badge-{name}.svg").write_text(badge(*words))


if __name__ == "__main__":
    main()
