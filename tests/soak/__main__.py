"""Random mechanisms, solved in many ways: a table of what differs, with the seeds to see it again.

From the folder `tests`:

    python -m soak --seconds 3600 --log soak.jsonl    # an hour, seeds from 0 on
    python -m soak --seed 17                          # one seed, everything found
    python -m soak --seed 17 --write model.yaml       # its model
    python -m soak --table soak.jsonl                 # the table of a log

The seeds run in a process of their own. If that dies, or takes longer than --limit for a seed, this is a finding too.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from soak.seeds import CHECKS, USUAL, check_seed


def parsed(argv):
    parser = argparse.ArgumentParser(
        prog="python -m soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=None, help="how long to go on with further seeds")
    parser.add_argument("--count", type=int, default=None, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--seed", type=int, default=None, help="this seed alone, told in full")
    parser.add_argument("--checks", default=",".join(USUAL), help=f"which checks, of {','.join(CHECKS)}")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of formulation and integrator a mechanism (10)")
    parser.add_argument("--gradients", type=int, default=2, help="pairs whose gradients are compared (2)")
    parser.add_argument("--metre", action="store_true", help="all mechanisms at about a metre and a kilogram")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a seed may take (300)")
    parser.add_argument("--log", default=None, help="a file to which each seed adds a line of JSON")
    parser.add_argument("--write", default=None, metavar="FILE", help="write the model of --seed and end")
    parser.add_argument("--table", default=None, metavar="LOG", help="print the table of a log and end")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    unknown = set(options.checks.split(",")) - set(CHECKS)
    if unknown:
        parser.error(f"there is no check {', '.join(sorted(unknown))}; choose from {', '.join(CHECKS)}")
    return options


def scales(options):
    return {"size": 1.0, "mass": 1.0} if options.metre else {}


def record_of(seed, options):
    return check_seed(
        seed, options.checks.split(","), pairs=options.pairs, gradients=options.gradients, **scales(options)
    )


def worker(options):
    """Reads seeds, writes records."""
    for line in sys.stdin:
        print(json.dumps(record_of(int(line), options)), flush=True)


class Worker:
    """A process that checks seeds, begun anew when it was lost."""

    def __init__(self, argv):
        self.argv, self.process = argv, None

    def check(self, seed, limit):
        """The record of a seed; one with a single finding if the process died or took too long."""
        if self.process is None:
            command = [sys.executable, "-m", "soak", *self.argv, "--worker"]
            folders = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": folders}, **pipes)
        late = []
        timer = threading.Timer(limit, lambda: (late.append(True), self.process.kill()))
        timer.start()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.process = None
        text = f"not done after {limit:g} s" if late else f"the process ended with {code}"
        finding = {"check": "process", "case": "", "kind": "fault", "text": text, "excess": 0.0}
        return {"seed": seed, "findings": [finding], "derivatives": 0, "vague": 0, "worst": 0.0, "seconds": limit}

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def soak(options, argv):
    """Records of consecutive seeds until the time or the count is up."""
    records, clock, seed = [], time.monotonic(), options.first
    worker = Worker(argv)
    while True:
        over = options.seconds is not None and time.monotonic() - clock > options.seconds
        counted = options.count is not None and len(records) >= options.count
        if over or counted or (options.seconds is None and options.count is None and records):
            break
        record = worker.check(seed, options.limit)
        records.append(record)
        if options.log:
            with open(options.log, "a", encoding="utf-8") as log:
                log.write(json.dumps(record) + "\n")
        if record["findings"]:
            print(line_of(record), flush=True)
        seed += 1
    worker.end()
    return records


def line_of(record):
    """A line on a seed with findings."""
    groups = defaultdict(int)
    for finding in record["findings"]:
        groups[finding["check"], finding["kind"]] += 1
    told = ", ".join(f"{count} × {check} {kind}" for (check, kind), count in groups.items())
    return f"seed {record['seed']} ({record.get('family', '?')}, {record.get('size', 0):g} m): {told}"


def table(records):
    """What was found, in most seeds first; then sums. Differences come together by check, messages by what they say."""
    groups = defaultdict(list)
    for record in records:
        for finding in record["findings"]:
            what = finding["check"] if finding["kind"] == "difference" else shortened(finding["text"])
            groups[finding["kind"], what].append((record["seed"], finding))
    lines = []
    for (kind, what), entries in sorted(groups.items(), key=lambda item: -len({seed for seed, _ in item[1]})):
        seeds = sorted({seed for seed, _ in entries})
        worst = max(finding["excess"] for _, finding in entries)
        shown = " ".join(map(str, seeds[:12])) + (" ..." if len(seeds) > 12 else "")
        size = f", up to {worst:.2g} times the tolerance" if worst else ""
        lines.append(f"{kind:10} {what}\n    {len(seeds)} seeds{size}: {shown}")
    sound = sum(not record["findings"] for record in records)
    compared, vague = sum(r["derivatives"] for r in records), sum(r["vague"] for r in records)
    worst = max((r["worst"] for r in records), default=0.0)
    lines.append(
        f"{len(records)} mechanisms, {sound} without findings; {compared} derivatives compared with differences, off by "
        f"{worst:.1e} at most, {vague} that differences could not judge; {sum(r['seconds'] for r in records):.0f} s"
    )
    return "\n".join(lines)


def shortened(text):
    """A message without its numbers and names, so that alike ones come together."""
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"\b(?:[bjdcg]\d+|p\d+)(?:\.\w+)*", "…", text)
    return re.sub(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", text)[:160]


def main(argv):
    options = parsed(argv)
    if options.worker:
        return worker(options)
    if options.table:
        with open(options.table, encoding="utf-8") as log:
            print(table([json.loads(line) for line in log]))
        return 0
    if options.seed is not None and options.write:
        import kinegrad as kg
        from soak.mechanisms import generate

        kg.Model.from_dict(generate(options.seed, **scales(options)).document).to_yaml(options.write)
        return 0
    if options.seed is not None:
        record = record_of(options.seed, options)
        print(line_of(record))
        for finding in record["findings"]:
            print(f"  {finding['check']} {finding['kind']} [{finding['case']}] {finding['text']}")
    else:
        records = soak(options, argv)
        print(table(records))
        record = {"findings": [finding for r in records for finding in r["findings"]]}
    return 1 if record["findings"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
