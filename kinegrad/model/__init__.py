"""What the user describes: names and numbers, in Python or in a file, without any algorithm."""
