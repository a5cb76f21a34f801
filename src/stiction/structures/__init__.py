"""Structures whose bodies hold each other by contact alone: walls, arches, towers, houses of cards, chain mail.

masonry      walls in running bond, arches of wedges, and the least thickness with which an arch stands
planks       towers of planks, houses of cards, rows of dominoes
mail         sheets of links that hang in each other
materials    what all builders share: the world, its ground, and the material of the structure

Every builder returns the world, a new one with a ground unless one is given. Its bodies are called by the name of the
structure and their number, "wall 0", "wall 1"; so is their material, which `world.set_material` can change afterwards.
"""

from .mail import chain_mail
from .masonry import arch, least_thickness, wall
from .planks import card_house, dominoes, plank_tower

__all__ = ["arch", "card_house", "chain_mail", "dominoes", "least_thickness", "plank_tower", "wall"]
