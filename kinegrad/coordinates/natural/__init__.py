"""Natural coordinates: points and unit vectors, shared by the bodies that joints tie together."""
