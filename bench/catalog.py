"""Measure the catalog against deltalake and pyiceberg: cold open, refresh, commits, contention."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from bench.ratio import Ratio

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".work" / "bench-peers"
ROUNDS = 5
PARTS, MANY_PARTS = 100_000, 1_000_000
COMMITS, ICEBERG_COMMITS = 1_000, 100
REFRESHED = 50
PROCESSES, EACH = 8, 100
MEASURES = ("opens", "scale", "refreshes", "commits", "contention")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers-python", type=Path, help="an interpreter that has bench/requirements.txt installed")
    parser.add_argument("--parts", type=int, default=PARTS)
    parser.add_argument(
        "--only", choices=MEASURES, nargs="+", default=MEASURES, help="what to measure; all unless given"
    )
    arguments = parser.parse_args()
    peers = arguments.peers_python or _make_peers()
    with tempfile.TemporaryDirectory(prefix="bench-catalog-") as folder:
        bench = Bench(Path(folder), peers, arguments.parts)
        bench.build()
        ratios = {name: ratio for of in arguments.only for name, ratio in getattr(bench, of)().items()}
    for name, ratio in ratios.items():
        bar = "reported" if ratio["bar"] is None else f"bar {ratio['bar']}"
        print(f"{name:<44} {ratio['value']:>10.2f}  {ratio['spread']}  {bar}")
    print(json.dumps({"bench": "catalog", "ratios": ratios}))


class Bench:
    def __init__(self, folder: Path, peers: Path, parts: int) -> None:
        self.folder = folder
        self.peers = peers
        self.parts = parts
        self._made = 0

    def ours(self, call: str, *arguments: object) -> dict[str, Any]:
        return self._call(Path(sys.executable), "bench.catalog_ours", call, arguments)

    def other(self, call: str, *arguments: object) -> dict[str, Any]:
        return self._call(self.peers, "bench.catalog_peers", call, arguments)

    def _call(self, python: Path, module: str, call: str, arguments: tuple[object, ...]) -> dict[str, Any]:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'libs'}"}
        command = [str(python), "-m", module, call, *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{module} {call} failed:\n{done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    def fresh(self) -> Path:
        self._made += 1
        return self.folder / str(self._made)

    def build(self) -> None:
        self.ours("build", self.folder / "ours", self.parts)
        self.other("delta_build", self.folder / "delta", self.parts)

    def opens(self) -> dict[str, Any]:
        """Open a table in a fresh process, and plan one range; the survivors must be the same."""
        ours, delta, iceberg = (self.folder / name for name in ("ours", "delta", "iceberg"))
        self.other("iceberg_build", iceberg, self.parts)
        mine, deltas, icebergs = [], [], []
        for number in range(ROUNDS):
            mine.append(self.ours("cold_open", ours, self.parts))
            deltas.append(self.other("delta_cold_open", delta, self.parts))
            if number < 3:
                icebergs.append(self.other("iceberg_cold_open", iceberg, self.parts))
        if not mine[0]["kept"] == deltas[0]["kept"] == icebergs[0]["kept"]:
            raise SystemExit(f"The survivors differ: {mine[0]['kept']}, {deltas[0]['kept']}, {icebergs[0]['kept']}.")
        print(f"{self.parts:,} parts: open {_median(mine, 'open'):.3f} s, deltalake {_median(deltas, 'open'):.3f} s;")
        print(f"  open and plan {_median(mine, 'plan'):.3f} s, deltalake {_median(deltas, 'plan'):.3f} s, ", end="")
        print(f"pyiceberg {_median(icebergs, 'plan'):.3f} s; {mine[0]['kept'][0]:,} parts kept by all")
        shutil.rmtree(iceberg)
        return {
            "cold_open_vs_deltalake": _ratio(deltas, mine, "open").to_json(5, "higher"),
            "open_and_plan_vs_deltalake": _ratio(deltas, mine, "plan").to_json(None, "higher"),
            "open_and_plan_vs_pyiceberg": _ratio(icebergs, mine, "plan").to_json(50, "higher"),
        }

    def scale(self) -> dict[str, Any]:
        many, few = self.folder / "many", self.folder / "ours"
        self.ours("build", many, MANY_PARTS)
        large = [self.ours("memory", many, MANY_PARTS) for _ in range(3)]
        small = [self.ours("memory", few, self.parts) for _ in range(3)]
        growth = _ratio(large, small, "open")
        print(
            f"{MANY_PARTS:,} parts: open {_median(large, 'open'):.3f} s, {_median(large, 'megabytes'):.0f} MB resident"
        )
        megabytes = _median(large, "megabytes")
        shutil.rmtree(many)
        return {
            "million_open_vs_100k_open": growth.to_json(12, "lower"),
            "million_resident_megabytes": Ratio(megabytes, (megabytes, megabytes)).to_json(None, "lower"),
        }

    def refreshes(self) -> dict[str, Any]:
        small = self.fresh()
        self.ours("build", small, max(self.parts // 100, 1))
        mine, deltas, smalls = [], [], []
        for _ in range(3):
            mine.append(self.ours("refresh", self.folder / "ours", REFRESHED))
            deltas.append(self.other("delta_refresh", self.folder / "delta", REFRESHED))
            smalls.append(self.ours("refresh", small, REFRESHED))
        print(f"refresh after {REFRESHED} commits: {_median(mine, 'refresh'):.3f} s, ", end="")
        print(f"deltalake {_median(deltas, 'refresh'):.3f} s")
        return {
            "refresh_vs_deltalake": _ratio(deltas, mine, "refresh").to_json(1, "higher"),
            "refresh_large_vs_small_table": _ratio(mine, smalls, "refresh").to_json(None, "lower"),
        }

    def commits(self) -> dict[str, Any]:
        mine, durable, deltas = [], [], []
        for _ in range(3):
            mine.append(_total(self.ours("commits", self.fresh(), COMMITS, "fast"), COMMITS))
            durable.append(_total(self.ours("commits", self.fresh(), COMMITS, "durable"), COMMITS))
            deltas.append(_total(self.other("delta_commits", self.fresh(), COMMITS), COMMITS))
        iceberg = self.other("iceberg_commits", self.fresh(), ICEBERG_COMMITS)["each"]
        per_iceberg, per_ours = statistics.fmean(iceberg), _median(mine, "total") / COMMITS
        slowing = [of["last"] / of["first"] for of in mine]
        print(
            f"a commit: {per_ours * 1e3:.2f} ms, durable {_median(durable, 'total') / COMMITS * 1e3:.2f} ms, ", end=""
        )
        print(f"deltalake {_median(deltas, 'total') / COMMITS * 1e3:.2f} ms, pyiceberg {per_iceberg * 1e3:.2f} ms")
        ratio = per_iceberg / per_ours
        return {
            "commits_vs_deltalake": _ratio(deltas, mine, "total").to_json(1, "higher"),
            "commits_vs_pyiceberg": Ratio(ratio, (ratio, ratio)).to_json(5, "higher"),
            "durable_vs_fast_commits": _ratio(durable, mine, "total").to_json(None, "lower"),
            "last_100_vs_first_100_commits": Ratio(statistics.median(slowing), (min(slowing), max(slowing))).to_json(
                1, "lower"
            ),
        }

    def contention(self) -> dict[str, Any]:
        mine = self.ours("contend", self.fresh(), PROCESSES, EACH)
        if mine["parts"] != PROCESSES * EACH:
            raise SystemExit(f"{PROCESSES * EACH - mine['parts']} commits were lost.")
        delta = self.other("delta_contend", self.fresh(), PROCESSES, EACH)
        rate, other = PROCESSES * EACH / mine["seconds"], PROCESSES * EACH / delta["seconds"]
        print(f"{PROCESSES} processes x {EACH}: {rate:.0f} commits/s, {mine['retries']:,} retries, none lost; ", end="")
        print(
            f"deltalake {other:.0f} commits/s, {PROCESSES * EACH - delta['parts']} lost (it waits before, not in, puts)"
        )
        return {
            "contended_commits_per_second": Ratio(rate, (rate, rate)).to_json(None, "higher"),
            "contended_retries": Ratio(mine["retries"], (mine["retries"],) * 2).to_json(None, "lower"),
            "contended_deltalake_commits_per_second": Ratio(other, (other, other)).to_json(None, "higher"),
        }


def _make_peers() -> Path:
    """Return the interpreter of an environment with the peers, which is made on first use."""
    python = PEERS / "bin" / "python"
    if not python.exists():
        print("Installing the peers …", file=sys.stderr)
        venv.create(PEERS, with_pip=True)
        wanted = ROOT / "bench" / "requirements.txt"
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", wanted], check=False)
        if done.returncode:
            shutil.rmtree(PEERS)
            raise SystemExit("deltalake and pyiceberg can't be installed here; see bench/requirements.txt.")
    return python


def _total(result: dict[str, Any], expected: int) -> dict[str, Any]:
    each = result["each"]
    if result["parts"] != expected:
        raise SystemExit(f"{expected - result['parts']} commits were lost.")
    return {"total": sum(each), "first": sum(each[1:101]), "last": sum(each[-100:])}


def _median(results: list[dict[str, Any]], what: str) -> float:
    return float(statistics.median(of[what] for of in results))


def _ratio(others: list[dict[str, Any]], mine: list[dict[str, Any]], what: str) -> Ratio:
    each = [slow[what] / fast[what] for slow, fast in zip(others, mine, strict=False)]
    return Ratio(_median(others, what) / _median(mine, what), (min(each), max(each)))


if __name__ == "__main__":
    main()
