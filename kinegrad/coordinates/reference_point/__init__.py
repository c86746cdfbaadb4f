"""Reference-point coordinates: the centre of mass and four Euler parameters of each body."""
