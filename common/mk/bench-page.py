#!/usr/bin/env -S python3 -B
"""Makes docs/results/bench-cpu.md and vgpu-speed.md from the output of `make bench`.

    bench-page.py FILE FOLDER         for example build/bench.txt docs/results

Pages that would be wrong are not written: FILE must have all parts of a whole run.
"""
import os
import re
import sys

import result_tables

BUSY_PERCENT = 10  # a wall time is meaningless if threads waited longer than this for a core


def fail(why):
    print(f"bench-page.py: {why} (hint: run make bench to its end)", file=sys.stderr)
    sys.exit(2)


def find(text, pattern):
    match = re.search(pattern, text, re.M)
    if not match:
        fail(f"no line like \"{pattern}\"")
    return match.groups()


def kernels(text):
    """The rows of vgpu_speed_bench's table: milestone, layer, ten figures."""
    rows = [line.split()[:12] for line in text.splitlines() if re.match(r"m\d+ +conv\d +[\d.-]+ ", line)]
    if not rows or any(len(r) < 12 for r in rows):
        fail("no table of kernels")
    return rows


def times(a, b):
    return "" if b == "-" else f"{float(a) / float(b):.2f}"


def speed_table(rows):
    lines = []
    for name, layer, slow_1, slow_2, fast_1, fast_2, _, by_wall, by_cpu, compile_s, waited, pocl in rows:
        busy = float(waited.rstrip("%")) > BUSY_PERCENT
        wall = ["busy"] * 4 if busy else [slow_2, fast_1, fast_2, by_wall]
        lines.append((name, layer, *wall, by_cpu, compile_s, "" if pocl == "-" else pocl,
                      "" if busy else times(fast_2, pocl), waited))
    return result_tables.markdown(
        "| kernels of | layer | interpreter, 2 cores | native, 1 core | 2 cores | scaling by wall | by CPU | "
        "s to compile | PoCL, 2 cores | times PoCL | waited |", "llrrrrrrrrr", lines)


def gradings(text):
    lines = re.findall(r"^  (\S.*?) +([\d.]+) s   goal ([\d.]+) s$", text, re.M)
    if not lines:
        fail("no times of whole gradings")
    return result_tables.markdown("| command | s | goal |", "lrr",
                                  [(f"`{name}`", took, goal) for name, took, goal in lines])


def operations(text):
    """Times of the steps that run once per grading."""
    load, loading, goal = find(text, r"^load and upscale .*: ([\d.]+) s \(loading ([\d.]+) s\).*goal ([\d.]+) s")
    oracle, oracle_goal = find(text, r"^oracle, two-layer, 10000 images: ([\d.]+) s; goal ([\d.]+) s")
    first, second = (find(text, rf"^oracle, two-layer {layer}, .*\(([\d.]+) GMAC/s\)")[0] for layer in ("conv1", "conv2"))
    pooling, = find(text, r"^pooling and tanh of both layers: ([\d.]+) s")
    return result_tables.markdown("| operation | s | goal |", "lrr", [
        (f"load 10000 test images and upscale them to 70x70 (loading {loading} s)", load, goal),
        (f"oracle, both convolutions of `two-layer`, 10000 images ({first} and {second} GMAC/s)", oracle,
         oracle_goal),
        ("pooling and tanh of both layers, 10000 images", pooling, "")])


def proofs(text):
    rows = re.findall(r"^  (m\d+) +([\d.]+) s \+ +([\d.]+) s \( *(\d+)%\) +processor +([\d.]+) s \+ +([\d.]+) s \( *(\d+)%\)",
                      text, re.M)
    if not rows:
        fail("no times of the proof")
    return result_tables.markdown("| milestone | `--quick`, s | the proof, more | CPU s | the proof, more |", "lrrrr",
                                  [(m, wall, f"{more}%", cpu, f"{cpu_more}%") for m, wall, _, more, cpu, _, cpu_more in rows])


def warp_times(text):
    rows = re.findall(r"^([a-z]+_[a-z_]+|histogram) +(\d+)$", text, re.M)
    return result_tables.markdown("| round of a warp | ns |", "lr", [(f"`{name}`", ns) for name, ns in rows])


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    machine, cores, load = find(text, r"^(.*), (\d+) cores, load ([\d.]+) when started; median of \d+, engines")
    waited, answered = find(text, r"^Launch of an empty kernel: ([\d.]+) us and waiting for it, ([\d.]+) us")
    values = {"began": find(text, r"^make bench, (.*)$")[0], "machine": machine, "cores": cores, "load": load,
              "llvm": find(text, r"^virtual GPU: (.*)$")[0], "busy": BUSY_PERCENT,
              "kernels": speed_table(kernels(text)), "auto": find(text, r"^auto: (.*?)  \(|^auto: (.*)$")[0],
              "waiting_us": waited, "launch_us": answered, "warps": warp_times(text), "gradings": gradings(text),
              "gradings_load": find(text, r"^Whole gradings .*, load ([\d.]+) when started:")[0],
              "operations": operations(text), "proofs": proofs(text)}
    for name in "bench-cpu.md", "vgpu-speed.md":
        result_tables.write(sys.argv[2], name, result_tables.fill(
            os.path.join(os.path.dirname(__file__), name), values))


main()
