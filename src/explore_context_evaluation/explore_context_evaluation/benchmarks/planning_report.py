"""The planning benchmark as text: tables, then every bar with its verdict."""

from __future__ import annotations

from typing import Any

# Of the speed rows that are not of the model's own network but of the paper's (GRU, 200 wide).
PAPERS_NETWORK = ", paper's network"


_NOT_WORSE = "not worse (paired: by two standard errors at most)"


def print_report(result: dict[str, Any]) -> None:
    print(
        f"\n{result['plant']}, model {result['model']}, horizon {result['horizon']}, "
        f"{result['threads']} threads; fastest matrix product here: {result['peak_gflops']:.0f} GFLOP/s"
    )
    _print_speed(result["speed"])
    if "systems" in result:
        _print_quality(result)
    print("\nbars")
    for bar, value, met in bars(result):
        print(f"  {'met    ' if met else 'NOT MET'}  {bar:<86} {value}")


def bars(result: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """(what is asked for, what was measured, whether it is met)."""
    speed, found = result["speed"], []
    for network, suffix in (("paper's", PAPERS_NETWORK), ("model's own", "")):
        faster = speed[f"plain PyTorch{suffix}"]["seconds"] / speed[f"paper{suffix}"]["seconds"]
        claim = f"the paper's planner is at least 3 times faster than plain PyTorch, {network} network"
        found.append((claim, f"{faster:.1f} times", faster >= 3))
    share = speed["paper"]["share_of_peak"]
    found.append(("and reaches at least 60 % of the matrix-product peak", f"{share:.0%}", share >= 0.6))
    if "systems" not in result:
        return found
    p99 = result["latency_ms"]["realtime"]["p99"]
    ratio = result["plans"]["real-time"]["gain_ratio"]
    entropy, errors = result["entropy"], result["prediction_error"]
    return [
        *found,
        ("real-time planner: p99 over whole calibrations at most 40 ms", f"{p99:.1f} ms", p99 <= 40),
        ("                   goal: at most 20 ms", f"{p99:.1f} ms", p99 <= 20),
        ("at least 100 % of the gain of the paper's planner", f"{ratio:.1%}", ratio >= 1),
        (f"final entropy {_NOT_WORSE}", _difference(entropy), bool(entropy["not_worse"])),
        *(
            (f"error, {name.replace('_', ' ')}, {_NOT_WORSE}", _difference(pair), bool(pair["not_worse"]))
            for name, pair in errors.items()
            if name != "horizon_50"  # the mean over all is mostly that
        ),
    ]


def _difference(pair: dict[str, float]) -> str:
    return f"{pair['difference']:+.3g} +- {pair['standard_error']:.2g}"


def _print_speed(rows: dict[str, dict[str, float]]) -> None:
    print(f"\n{'one MPC step from the prior':<34}{'ms':>10}{'GFLOP/s':>10}{'of peak':>10}{'x plain':>10}")
    for name, row in rows.items():
        suffix = PAPERS_NETWORK if name.endswith(PAPERS_NETWORK) else ""
        times = rows[f"plain PyTorch{suffix}"]["seconds"] / row["seconds"]
        print(
            f"{name:<34}{1e3 * row['seconds']:>10.1f}{row['gflops']:>10.1f}"
            f"{row['share_of_peak']:>10.0%}{times:>10.1f}"
        )
    print("GFLOP/s count the products of the factored network inside the loop, for every row alike.")


def _print_quality(result: dict[str, Any]) -> None:
    print(
        f"\n{'whole calibrations, ms per plan':<34}"
        + "".join(f"{q:>10}" for q in ("p50", "p90", "p99", "max"))
    )
    for name, row in result["latency_ms"].items():
        print(f"{name:<34}" + "".join(f"{row[q]:>10.1f}" for q in ("p50", "p90", "p99", "p100")))
    print("paper: as measured when these calibrations were computed; they are kept on disk")
    if result["deadline_ms"] > 0:
        share = f"{result['cut_short']:.1%} of plans cut short"
        print(f"real-time: deadline {result['deadline_ms']:g} ms, {share}")
    print(f"\n{'plans from the same states':<34}{'gain, nats':>12}{'of paper':>10}{'ms':>10}")
    for name, row in result["plans"].items():
        print(f"{name:<34}{row['gain']:>12.2f}{row['gain_ratio']:>10.1%}{row['milliseconds']:>10.1f}")
    title = f"{result['systems']} systems, same seeds"
    print(f"\n{title:<34}{'paper':>12}{'real-time':>12}{'difference':>22}")
    pairs = {"final entropy, nats": result["entropy"]}
    pairs |= {f"error, {name.replace('_', ' ')}": pair for name, pair in result["prediction_error"].items()}
    for name, pair in pairs.items():
        print(f"{name:<34}{pair['paper']:>12.4g}{pair['realtime']:>12.4g}{_difference(pair):>22}")
