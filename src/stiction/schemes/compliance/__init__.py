"""Contacts that give way, by stiff integrators: `Compliant`."""
