"""Impact laws with restitution, for `Moreau`: one contact, several at once, in sequence, driven by work."""
