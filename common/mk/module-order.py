#!/usr/bin/env python3
"""Checks that the code respects the order of the modules, and that no files depend on each other in a cycle.

    module-order.py [--circles] [--loaded MODULE]... [--objects FOLDER]... MODULE...

The modules are named from the top down, as common/mk/compile.mk lists them. A module may use only modules after it.
Checked are every include of a source file, and every undefined symbol (from nm) of the objects under the folders that
a module defines. A --loaded module is a shared library: no other module is linked with its definitions. With
--circles, files may not depend on each other in a cycle, by symbols. Tests are not checked.

Prints one line per violation and exits with 1 if there is any.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = (".c", ".cu", ".cuh", ".def", ".h", ".inc")


def module_of(path, modules):
    """The module of a file, or None. Tests belong to no module."""
    folder = os.path.dirname(path)
    return folder if folder in modules else None


def resolve(include, source):
    """The file that an include names: beside the source, or from one of the two include folders."""
    for base in (os.path.dirname(source), "common", "."):
        path = os.path.normpath(os.path.join(base, include))
        if os.path.isfile(path):
            return path
    return None


def upward_includes(modules):
    for module in modules:
        for name in sorted(os.listdir(module)):
            path = f"{module}/{name}"
            if not name.endswith(SOURCES) or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for include in INCLUDE.findall(text):
                target = resolve(include, path)
                used = target and module_of(target, modules)
                if used and modules[used] < modules[module]:
                    yield f"{path}: includes {include}, of {used}, which is above {module}"


def objects_of(folders, modules):
    """The objects of the modules under the build folders: {object: source without its suffix}."""
    found = {}
    for folder in folders:
        for where, _, names in os.walk(folder):
            for name in names:
                stem = os.path.relpath(os.path.join(where, name), folder)[: -len(".o")]
                if name.endswith(".o") and module_of(stem, modules):
                    if any(os.path.isfile(stem + suffix) for suffix in ("", *SOURCES)):
                        found.setdefault(stem, os.path.join(where, name))
    return found


def symbols_of(objects):
    """({symbol: {files that define it}}, {file: {symbols that it uses}})."""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    stem_of = {path: stem for stem, path in objects.items()}
    lines = subprocess.run(["nm", "-A", "-g", *stem_of], check=True, capture_output=True, text=True)
    for line in lines.stdout.splitlines():
        path, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind in "Uvw":
            used[stem_of[path]].add(symbol)
        else:
            defined[symbol].add(stem_of[path])
    return defined, used


def uses_of(defined, used, loaded):
    """{(user, definer): {symbols}} between files. A symbol that several files define (main) belongs to none."""
    edges = collections.defaultdict(set)
    for user, symbols in used.items():
        for symbol in symbols:
            definers = {d for d in defined.get(symbol, set())
                        if os.path.dirname(d) == os.path.dirname(user) or os.path.dirname(d) not in loaded}
            if user not in definers and len(definers) == 1:
                edges[user, next(iter(definers))].add(symbol)
    return edges


def upward_symbols(edges, modules):
    for (user, definer), symbols in sorted(edges.items()):
        above, below = module_of(definer, modules), module_of(user, modules)
        if modules[above] < modules[below]:
            some = ", ".join(sorted(symbols)[:3])
            yield f"{user}.o: uses {some} of {definer}, and {above} is above {below}"


def circles(edges):
    """The sets of files that depend on each other in a cycle (Tarjan's strongly connected components)."""
    graph = collections.defaultdict(set)
    for user, definer in edges:
        graph[user].add(definer)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            circle = []
            while not circle or circle[-1] != node:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def circle_lines(edges):
    for circle in circles(edges):
        yield "these files use each other in a cycle: " + " ".join(circle)
        for (user, definer), symbols in sorted(edges.items()):
            if user in circle and definer in circle:
                yield f"    {user} -> {definer}: {', '.join(sorted(symbols)[:4])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--loaded", action="append", default=[], metavar="MODULE")
    parser.add_argument("--circles", action="store_true")
    parser.add_argument("module", nargs="+")
    arguments = parser.parse_args()
    modules = {name: place for place, name in enumerate(arguments.module)}
    missing = [name for name in modules if not os.path.isdir(name)]
    if missing:
        sys.exit(f"module-order: no such folder: {' '.join(missing)}")
    found = list(upward_includes(modules))
    objects = objects_of(arguments.objects, modules)
    if arguments.objects and not objects:
        sys.exit(f"module-order: no objects in {' '.join(arguments.objects)} (hint: run: make all)")
    if objects:
        defined, used = symbols_of(objects)
        edges = uses_of(defined, used, arguments.loaded)
        found += upward_symbols(edges, modules)
        if arguments.circles:
            found += circle_lines(edges)
    for line in found:
        print(f"module-order: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
