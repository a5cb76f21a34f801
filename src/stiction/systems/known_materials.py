"""Materials by name, for `set_material(name, like=...)`: typical values at room temperature, of which no more is meant.

    steel      structural steel                                           CRC Handbook; friction, dry: Marks' Handbook
    aluminium  pure and its alloys; dry, static: in sliding it seizes     CRC Handbook; Marks' Handbook
    glass      soda-lime glass                                            CRC Handbook; Marks' Handbook
    wood       oak, modulus along the grain (across it a tenth)           Wood Handbook (USDA); Marks' Handbook
    rubber     soft natural rubber, nearly incompressible                 Polymer Handbook; Marks' Handbook
    stone      granite                                                    CRC Handbook; friction: Byerlee's law
    concrete   C25/30                                                     EN 1992-1-1, also for a joint left smooth
    ice        at -10 °C; friction of slow sliding near the melting point Petrenko, Whitworth, Physics of Ice
    PTFE       filled with nothing                                        Polymer Handbook; Bowden, Tabor

Friction is that of sliding on the same material. Moduli of one name differ by a tenth (metals, glass) to a factor of
three (rubber, wood, stone), coefficients of friction by a factor of two with finish and dirt.
"""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A named material: Young's modulus [Pa], Poisson's ratio, density [kg/m³], friction against itself."""

    young: float
    poisson: float
    density: float
    friction: float


KNOWN = {
    "steel": Known(210e9, 0.30, 7850.0, 0.57),
    "aluminium": Known(70e9, 0.33, 2700.0, 1.05),
    "glass": Known(70e9, 0.22, 2500.0, 0.40),
    "wood": Known(11e9, 0.35, 700.0, 0.48),
    "rubber": Known(5e6, 0.49, 1100.0, 1.0),
    "stone": Known(50e9, 0.25, 2650.0, 0.65),
    "concrete": Known(31e9, 0.20, 2400.0, 0.60),
    "ice": Known(9.3e9, 0.33, 917.0, 0.03),
    "PTFE": Known(0.5e9, 0.46, 2200.0, 0.04),
}
