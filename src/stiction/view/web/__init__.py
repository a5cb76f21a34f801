"""The viewer in the browser: `viewer` opens it, `guard` decides who may talk to it."""
