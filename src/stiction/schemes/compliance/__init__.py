"""Contacts that give way, by stiff integrators.

compliant   the scheme `Compliant`
motion      the equations of motion, with rigid joints
forces      forces of contacts, limits, springs and motors
"""
