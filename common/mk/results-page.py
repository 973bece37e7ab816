#!/usr/bin/env -S python3 -B
"""Makes a page and plots from the tables of `make gpu-check` (references.md, ladder.svg, against-cudnn.svg)
and, if they exist, from the tables of `grader sweep` (sweep.md, sweep-P.svg).

    results-page.py FOLDER BUILD_FOLDER        for example docs/results/h200 build

Needs the grader and gnuplot for the plots. The same tables give the same bytes.
"""
import glob
import os
import shutil
import subprocess
import sys

import result_tables

TABLES = "machine bench peaks not-passed inference against-virtual sanitizer".split()
TEXT = os.path.join(os.path.dirname(__file__), "results-page.md")

# The references' goals on an H200, at 10000 images unless a row has another number.
# Subject (or the best reference), model, layer (or the sum of all), images, maximum time in milliseconds.
GOAL_MS = (("best", "two-layer", "1", "10000", 0.60), ("m9", "two-layer", "2", "10000", 2.27),
           ("m11", "two-layer", "2", "10000", 1.15), ("m14", "two-layer", "2", "10000", 1.4),
           ("m9", "two-layer", "all", "10000", 2.8), ("best", "two-layer", "all", "10000", 1.75),
           ("best", "two-layer", "all", "100", 0.045), ("m9", "one-layer", "1", "10000", 0.30),
           ("best", "one-layer", "1", "10000", 0.30))
GOAL_TIMES_CUDNN = (("m9", "all", "10000", 2.5), ("m8", "all", "10000", 2), ("m9", "two-layer", "100", 2))
SLOWER_FASTER = (("m2", "m3"), ("m5", "m6"), ("m6", "m8"), ("m8", "m9"))


def unique(rows, *names):
    """The distinct values of these columns, in the order of the table."""
    return list(dict.fromkeys(tuple(r[n] for n in names) for r in rows))


def pick(rows, **wanted):
    return [r for r in rows if all(r[name] == value for name, value in wanted.items())]


def reached(good):
    return "reached" if good else "**missed**"


def draw(folder, build):
    """Draws the plots with the grader. @return their names"""
    drawn = subprocess.run([os.path.join(build, "grader"), "plots", "."], cwd=folder, capture_output=True,
                           text=True)
    if drawn.returncode:
        sys.stderr.write(drawn.stdout + drawn.stderr)
    pictures = glob.glob(os.path.join(folder, "plots", "*.svg"))
    for picture in pictures:
        os.replace(picture, os.path.join(folder, os.path.basename(picture)))
    shutil.rmtree(os.path.join(folder, "plots"), ignore_errors=True)
    return [os.path.basename(picture)[: -len(".svg")] for picture in pictures]


def totals_of(bench):
    """The sums of the medians over the layers of each model, and over all layers, of the subjects that were measured
    on each layer."""
    totals = []
    models = [model for (model,) in unique(bench, "model")]
    for model in models + ["all"] * (len(models) > 1):
        rows = bench if model == "all" else pick(bench, model=model)
        for (images,) in unique(rows, "images"):
            of_size = pick(rows, images=images)
            sum_ms = {subject: sum(float(r["median_ms"]) for r in pick(of_size, subject=subject))
                      for (subject,) in unique(of_size, "subject")
                      if all(r["status"] == "ok" for r in pick(of_size, subject=subject))}
            totals += [{"model": model, "images": images, "subject": subject, "sum_ms": ms,
                        "times_cudnn": sum_ms["cudnn"] / ms if "cudnn" in sum_ms else None}
                       for subject, ms in sum_ms.items()]
    return totals


def sums(totals):
    parts = []
    for (model,) in unique(totals, "model"):
        rows = pick(totals, model=model)
        sizes = [size for (size,) in unique(rows, "images")]
        cell = {(r["subject"], r["images"]): "%.4g" % r["sum_ms"] +
                (" (%.2f)" % r["times_cudnn"] if r["times_cudnn"] else "") for r in rows}
        parts.append(result_tables.markdown(
            f"| {'all layers' if model == 'all' else model} | " + " | ".join(f"{s} images" for s in sizes) + " |",
            "l" + "r" * len(sizes),
            [[subject] + [cell.get((subject, s), "–") for s in sizes] for (subject,) in unique(rows, "subject")]))
    return "\n\n".join(parts)


def goals(bench, totals):
    lines = []
    for subject, model, layer, images, most_ms in GOAL_MS:
        found = ([(r["sum_ms"], r["subject"]) for r in pick(totals, model=model, images=images)]
                 if layer == "all" else
                 [(float(r["median_ms"]), r["subject"])
                  for r in pick(bench, model=model, layer=layer, images=images, status="ok")])
        found = [f for f in found if f[1] == subject or (subject == "best" and not f[1].startswith("cudnn"))]
        if found:
            ms, name = min(found)
            lines.append((f"{subject}{f' ({name})' if name != subject else ''}, {model}"
                          f"{'' if layer == 'all' else f' conv{layer}'}, {images} images", f"at most {most_ms:g} ms",
                          f"{ms:.3g} ms", reached(ms <= most_ms)))
    for subject, model, images, times in GOAL_TIMES_CUDNN:
        for r in pick(totals, subject=subject, model=model, images=images):
            if r["times_cudnn"]:
                lines.append((f"{subject}, {'all layers' if model == 'all' else model}, {images} images",
                              f"{times:g} times as fast as cuDNN", "%.2f" % r["times_cudnn"], reached(r["times_cudnn"] >= times)))
    most = max((r["images"] for r in bench), key=int, default="0")
    ms = {r["subject"]: r["sum_ms"] for r in pick(totals, model="all", images=most)}
    for slower, faster in SLOWER_FASTER:
        if slower in ms and faster in ms:
            lines.append((f"{slower} takes longer than {faster}, {most} images", "%.4g ms" % ms[slower],
                          "%.4g ms" % ms[faster], reached(ms[slower] >= ms[faster])))
    return "## Goals\n\n" + result_tables.markdown("| | goal | measured | |", "lrrl", lines) + "\n\n"


def layer_cell(rows):
    """The median of a subject at one size, and in parentheses its multiple of the floor."""
    if not rows:
        return "–"
    r = rows[0]
    return ("%.4g (%.2f)" % (float(r["median_ms"]), float(r["median_ms"]) / float(r["floor_ms"]))
            if r["status"] == "ok" else f"{r['status']}: {r['note']}")


def layers(bench):
    parts = []
    for model, layer in unique(bench, "model", "layer"):
        rows = pick(bench, model=model, layer=layer)
        sizes = sorted({r["images"] for r in rows}, key=int)
        firsts = [pick(rows, images=size)[0] for size in sizes]
        parts.append(result_tables.markdown(
            f"| {model} conv{layer} | " + " | ".join(f"{s} images" for s in sizes) + " |", "l" + "r" * len(sizes),
            [["floor"] + ["%.4g (%s)" % (float(r["floor_ms"]), r["floor_of"]) for r in firsts]] +
            [[subject] + [layer_cell(pick(rows, subject=subject, images=s)) for s in sizes]
             for (subject,) in unique(rows, "subject")]))
    return "\n\n".join(parts)


def in_order(milestones):
    """Sorted by number: m2 before m10."""
    return sorted(milestones, key=lambda m: int(m[1:]))


def graded(rows):
    lines = []
    for milestone in in_order({r["milestone"] for r in rows}):
        own = pick(rows, milestone=milestone)
        right = [r for r in own if r["passed"] == "true"]
        other = [f"{r['model']}, {r['images']} images: {r['correctness']} instead of {r['expected_correctness']}"
                 for r in own if r["expected_correctness"] not in ("", r["correctness"])]
        count = f"{len(right)} of {len(own)}"
        lines.append((milestone, count if len(right) == len(own) else f"**{count}**",
                      "%.1e" % max(float(r["largest_error"]) for r in own), "<br>".join(other)))
    return result_tables.markdown("| | right | largest error | other share of right classes |", "lrrl", lines)


def failed_checks(rows):
    """The checks that failed with at least one model, or passed with none."""
    lines = ["{milestone} {check} ({status}{model}: {message})".format(
        **{**r, "model": f" with {r['model']}" if r["status"] == "fail" else ""}) for r in rows]
    return "; ".join(lines) + "." if lines else "none."


def beside_virtual(rows):
    there = {r["milestone"]: r["right"] for r in rows if r["device"] == "virtual GPU" and not r["same_bits"]}
    return result_tables.markdown(
        "| | shapes right here | right on the virtual GPU | elements | same bits | largest difference / tolerance |",
        "lrrrrr",
        [(r["milestone"], f"{r['right']} of {r['shapes']}", there.get(r["milestone"], ""), r["elements"],
          "%.2f%%" % (100 * float(r["same_bits"] or 0) / float(r["elements"])), r["difference_to_tolerance"])
         for m in in_order({r["milestone"] for r in rows}) for r in pick(rows, milestone=m)
         if r["device"] != "virtual GPU" or r["same_bits"]])


def sanitizer(rows):
    tools = [tool for (tool,) in unique(rows, "tool")]
    state = {(r["milestone"], r["tool"]): r["status"] if r["status"] != "failed" else f"**failed**: {r['summary']}"
             for r in rows}
    return result_tables.markdown(
        "| | " + " | ".join(tools) + " |", "l" + "l" * len(tools),
        [[m] + [state.get((m, tool), "–") for tool in tools] for m in in_order({r["milestone"] for r in rows})])


def sweeps(folder, gpu):
    """Joins the pages of the sweeps; without sweeps, leaves the page unchanged."""
    pages = sorted(glob.glob(os.path.join(folder, "sweep-*.md")))
    text = (f"# Parameter sweeps on an {gpu}\n\n<!-- Made from the sweep-*.md that `grader sweep` wrote, by "
            "common/mk/results-page.py. -->\n\n[Parameter sweeps](../../sweep.md) describes the command.\n")
    for page in pages:
        with open(page, encoding="utf-8") as file:
            lines = [("#" + line if line.startswith("#") else line) for line in file]
        text += "\n" + "".join(lines).replace("](plots/", "](")
    if pages:
        result_tables.write(folder, "sweep.md", text)
    for page in pages:
        os.remove(page)  # the common page now contains it


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, build = sys.argv[1], os.path.abspath(sys.argv[2])
    t = result_tables.read_all("results-page", folder, "", TABLES, "make gpu-check")
    drawn = draw(folder, build)
    pictures = [f"![{text}]({name}.svg)\n\n" for name, text in
                (("ladder", "Time of each reference, one panel per layer"),
                 ("against-cudnn", "Speed relative to cuDNN, by size")) if name in drawn]
    values = {r["what"]: r["value"] for r in t["machine"]}
    for r in t["peaks"]:
        values[r["what"]] = "%.*f" % (0 if r["unit"] == "GB/s" else 1, float(r["median"]))
    totals = totals_of(t["bench"])
    is_h200 = values["gpu"] == "NVIDIA H200"
    values.update(
        pictures="".join(pictures), sums=sums(totals), goals=goals(t["bench"], totals) if is_h200 else "",
        layers=layers(t["bench"]), graded=graded(t["inference"]), failed=failed_checks(t["not-passed"]),
        beside_virtual=beside_virtual(t["against-virtual"]), sanitizer=sanitizer(t["sanitizer"]))
    result_tables.write(folder, "references.md", result_tables.fill(TEXT, values))
    sweeps(folder, values["gpu"])
    print(f"results-page: {folder}/references.md")


if __name__ == "__main__":
    main()
