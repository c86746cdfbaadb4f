"""The long piece: `pytest -n0 -m soak tests/soak`, for SOAK_SECONDS (600) from SOAK_FIRST (0) on."""

import os

import pytest

from soak.__main__ import parsed, soak, table


@pytest.mark.soak
def test_random_mechanisms(capsys):
    argv = ["--seconds", os.environ.get("SOAK_SECONDS", "600"), "--first", os.environ.get("SOAK_FIRST", "0")]
    records = soak(parsed(argv), argv)
    with capsys.disabled():
        print("\n" + table(records))
    assert records and not any(record["findings"] for record in records)
