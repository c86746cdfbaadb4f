"""The equations of a system at one state, for those who read matrices: with names of rows and columns."""
