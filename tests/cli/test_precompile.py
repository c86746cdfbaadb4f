"""``kinegrad precompile`` reports every feature once."""

import json

import pytest

from kinegrad.cli import main
from kinegrad.precompile import FEATURES


@pytest.mark.parametrize("as_json", [False, True])
def test_precompile_names_every_feature(as_json, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["precompile", *(["--json"] if as_json else [])])
    out, err = capsys.readouterr()
    assert exit.value.code == 0
    told = [line.rpartition(":")[0] for line in err.splitlines() if not line.startswith("kinegrad:")]
    assert told == list(FEATURES)
    if as_json:
        seconds = json.loads(out)["seconds"]
        assert list(seconds) == list(FEATURES) and all(value >= 0 for value in seconds.values())
    else:
        assert f"All {len(FEATURES)} features are ready" in out
