"""The joint coordinate set: relative coordinates of a spanning tree, and rows that close what was cut."""
