"""Random mechanisms, solved in many ways and once more by plain NumPy; `python -m soak --help` from the folder tests."""
