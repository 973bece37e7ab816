#!/usr/bin/env -S python3 -B
"""Makes profiler.md from the tables that `make profile-check` wrote.

    profiler-page.py FOLDER         for example docs/results/h200
"""
import os
import sys

import result_tables

TABLES = "machine samples kernels spins overhead programs sandbox sums launches metrics".split()
TEXT = os.path.join(os.path.dirname(__file__), "profiler-page.md")


def us(ns, form="%.2f"):
    return form % (float(ns) / 1000)


def beside_ncu(rows):
    """The differences between vprof and ncu, grouped by the kernels' duration."""
    groups = (("50 us or more", 50000, float("inf")), ("10 to 50 us", 10000, 50000),
              ("less than 10 us", 0, 10000))
    lines = []
    for name, least_ns, most_ns in groups:
        some = [r for r in rows if least_ns <= float(r["ncu_ns"]) < most_ns]
        if not some:
            continue
        apart = [abs(float(r["difference_percent"])) for r in some]
        itself = [abs(float(r["ncu_itself_percent"])) for r in some]
        longer = [float(r["vprof_ns"]) - float(r["ncu_ns"]) for r in some]
        lines.append((name, str(len(some)), str(sum(a <= 2 for a in apart)), f"{max(apart):.2f}%",
                      f"{us(min(longer))} to {us(max(longer))}", str(sum(a <= 2 for a in itself)),
                      f"{max(itself):.2f}%"))
    return result_tables.markdown(
        "| kernels that take | rows | vprof and ncu within 2% | largest | vprof minus ncu, us | "
        "ncu and ncu within 2% | largest |", "lrrrrrr", lines)


def spins(rows):
    return result_tables.markdown(
        "| kernel | vprof, us | ncu, its default report | ncu --set full | ncu, the time only |", "lrrrr",
        [(f"`{r['kernel']}`", us(r["vprof_ns"]), us(r["ncu_ns"]), us(r["ncu_full_ns"]),
          us(r["ncu_time_only_ns"])) for r in rows])


def largest_size(rows):
    most = max(int(r["images"]) for r in rows)
    lines = []
    for r in rows:
        if int(r["images"]) == most:
            symbol, grid = r["kernel"].split(" ")[:2]
            lines.append((r["images"], f"`{symbol}` {grid}", r["launches"], us(r["vprof_ns"]),
                          us(r["ncu_ns"]), us(r["ncu_again_ns"]), f"{float(r['difference_percent']):.2f}%"))
    return result_tables.markdown(
        "| images | kernel | launches | vprof, us | ncu, us | ncu again, us | difference |", "rlrrrrr", lines)


def costs(rows, column, resolution_ns):
    """The subjects that take more than 2% longer than without a profiler, by number of images. Times that differ by
        at most the resolution count as equal."""
    sizes = {}
    for r in rows:
        sizes.setdefault(int(r["what"].split(", ")[1].split()[0]), []).append(
            (float(r["plain_ns"]), float(r[column + "_ns"]), r["what"]))
    lines = []
    for size, some in sorted(sizes.items()):
        within = sum(100 * (w - p) / p <= 2 or w - p <= resolution_ns for p, w, _ in some)
        plain, with_it = sum(p for p, _, _ in some), sum(w for _, w, _ in some)
        p, w, what = max(some, key=lambda s: (s[1] - s[0]) / s[0])
        lines.append((f"{size} images", str(len(some)), str(within),
                      f"{100 * (with_it - plain) / plain:.2f}%",
                      f"{100 * (w - p) / p:.2f}% ({us(w - p, '%.1f')} us)", what))
    return result_tables.markdown("| | layers | within 2% | all together | largest | of |", "lrrrrl", lines)


def columns(header, alignment, names):
    """A function that makes a table of these columns from the rows."""
    return lambda rows: result_tables.markdown(header, alignment, [[r[n] for n in names] for r in rows])


launches = columns(
    "| run | launched | kernels recorded | calls recorded | warnings | a launch, ns | with vprof, ns |",
    "lrrrrrr", "run launched kernels calls warnings plain_ns profiled_ns".split())
sandbox = columns("| images | part | state | reason |", "rlll", "images part state reason".split())


def samples(rows):
    return result_tables.markdown(
        "| program | status | found by vprof |", "lll",
        [(f"[{r['program']}](../../../common/vprof/tests/programs/{r['program']}.cu)", r["status"], r["found"])
         for r in rows])


def metrics(rows):
    return result_tables.markdown(
        "| | kernel | metric | vprof | ncu |", "lllrr",
        [(r["milestone"], f"`{r['kernel']}`", r["metric"], r["vprof"], "%.6g" % float(r["ncu"])) for r in rows])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    t = result_tables.read_all("profiler-page", folder, "profiler-", TABLES, "make profile-check")
    sums = sum(r["status"] == "ok" for r in t["sums"])
    values = {r["what"]: r["value"] for r in t["machine"]}
    values.update(
        beside_ncu=beside_ncu(t["kernels"]), spins=spins(t["spins"]), largest_size=largest_size(t["kernels"]),
        rounds=min(int(r["rounds"]) for r in t["overhead"]), overhead=costs(t["overhead"], "profiled", 0),
        programs=costs(t["programs"], "profiled", 1000), recorded=costs(t["overhead"], "recorded", 0),
        launches=launches(t["launches"]), sandbox=sandbox(t["sandbox"]),
        sums=f"{sums} of {len(t['sums'])} runs", samples=samples(t["samples"]), metrics=metrics(t["metrics"]))
    result_tables.write(folder, "profiler.md", result_tables.fill(TEXT, values))
    print(f"profiler-page: {folder}/profiler.md")


if __name__ == "__main__":
    main()
