"""Tests marked `soak` run when they are asked for, whatever else `-m` says."""


def pytest_collection_modifyitems(config, items):
    if "soak" in (config.option.markexpr or ""):
        return
    left = [item for item in items if item.get_closest_marker("soak") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left
