#!/usr/bin/env python3
"""Compares the tables of the CUDA runtime with NVIDIA's headers, for each given toolkit.

  headers.py [--tables FOLDER] INCLUDE_FOLDER...

symbols.tsv: every function of the headers has a row for that version; a name whose parameters differ between
CUDA 12 and CUDA 13 must not have the same function in both (this needs headers of both).
properties.def: the offsets of cudaDeviceProp's fields, and its size. errors.def: numbers and names.
Other structures that the library writes or keeps: the size of the part that it accesses.
Prints all differences; exit status 1 if there are any.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent.parent
# The size of the accessed part of structures that later versions extended: it must exist in all versions.
TOUCHED = {"struct cudaPointerAttributes": 24, "struct cudaResourceDesc": 64}
SAME = ["struct cudaFuncAttributes 144", "struct cudaMemcpy3DParms 160", "struct cudaKernelNodeParams 56",
        "struct cudaMemsetParams 40", "struct cudaHostNodeParams 16", "cudaLaunchConfig_t 56", "cudaLaunchAttribute 72",
        "struct cudaTextureDesc 72", "struct cudaMemPoolProps 88", "cudaGraphEdgeData 8", "struct cudaMemLocation 8",
        "struct cudaChannelFormatDesc 20"]


def gcc(include, source, *options):
    """gcc's output, or None with its messages printed."""
    run = subprocess.run(["gcc", "-x", "c", *options, "-isystem", str(include), "-"], input=source, text=True,
                         capture_output=True, check=False)
    if run.returncode:
        print(re.sub(r"(?m)^(?!.*error:).*\n?", "", run.stderr).strip())
        return None
    return run.stdout


def version_of(include):
    return int(re.search(r"#define\s+CUDART_VERSION\s+(\d+)", (include / "cuda_runtime_api.h").read_text()).group(1))


def functions(include):
    """{name: the types of its parameters} as the headers declare them."""
    text = gcc(include, "#include <cuda_runtime_api.h>\n", "-E", "-P") or ""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text, flags=re.S)
    text = re.sub(r"\b(struct|enum|union)\b", "", text)
    found = {}
    for match in re.finditer(r"extern\s+[\w\s*]+?\b(cuda\w+)\s*\(([^;{]*?)\)\s*;", text):
        types = []
        for parameter in match.group(2).split(","):
            words = re.sub(r"\s+", " ", re.sub(r"([*\[\]])", r" \1 ", parameter)).strip()
            # The last word is the name, if a type precedes it.
            words = re.sub(r"^(.*[\w*] )(?!int$|unsigned$|long$|char$)\w+$", r"\1", words)
            types.append(words.replace(" ", ""))
        found[match.group(1)] = tuple(types)
    return found


def read_symbols(tables):
    rows = [line.rstrip("\n").split("\t") for line in open(tables / "symbols.tsv")][1:]
    return {name: {12: in_12, 13: in_13} for name, in_12, in_13 in rows}


def check_names(symbols, version, declared):
    return [f"symbols.tsv: CUDA {version} has {name}" for name in declared
            if symbols.get(name, {}).get(version // 1000, "-") == "-"]


def exports(include):
    """The functions of the library beside the headers, if the library exists."""
    for library in sorted(include.parent.glob("lib64/libcudart.so.1[23]")):
        run = subprocess.run(["nm", "-D", "--defined-only", str(library)], text=True, capture_output=True, check=True)
        return re.findall(r"^\w+ T (\w+)", run.stdout, re.M)
    return []


def check_parameters(symbols, old, new):
    """@p old, @p new: {name: types} of CUDA 12 and of CUDA 13."""
    wrong = []
    for name in sorted(set(old) & set(new)):
        means = symbols.get(name, {12: "-"})[12]
        if old[name] != new[name] and means == "=":
            wrong.append(f"symbols.tsv: {name} has other parameters in CUDA 12: {old[name]}, in CUDA 13: {new[name]}")
    return wrong


def assertions(tables, version):
    major = version // 1000
    lines = ["#include <cuda_runtime_api.h>", "#include <stddef.h>", "#include <stdint.h>",
             "#define SAME(a, b) _Static_assert((a) == (b), #a \" is \" #b)",
             "#define FIELD(type, name, at_12, at_13, value) FIELD_(type, name, at_%d)" % major]
    for name, at_12, at_13 in re.findall(r"^FIELD\(\w+, ([^,]+), (-?\d+), (-?\d+),", (tables / "properties.def").read_text(), re.M):
        at = int(at_12 if major == 12 else at_13)
        if at >= 0:
            lines.append(f"SAME(offsetof(struct cudaDeviceProp, {name}), {at});")
    lines.append(f"SAME(sizeof(struct cudaDeviceProp), {1032 if major == 12 else 1008});")
    for row in SAME:
        name, size = row.rsplit(" ", 1)
        lines.append(f"SAME(sizeof({name}), {size});")
    for name, size in TOUCHED.items():
        lines.append(f"_Static_assert(sizeof({name}) >= {size}, \"{name} is smaller than what is touched of it\");")
    lines.append("SAME(offsetof(struct cudaPointerAttributes, hostPointer) + sizeof(void *), 24);")
    return "\n".join(lines) + "\n"


def check_errors(tables, include, version):
    errors = tables / "errors.def" if tables != HERE else HERE.parent / "api/errors.def"
    ours = {name: int(number) for number, name in re.findall(r"^X\((\d+), (\w+),", errors.read_text(), re.M)}
    text = (include / "driver_types.h").read_text()
    enum = re.search(r"enum\s+(?:__device_builtin__\s+)?cudaError\s*\{(.*?)\n\s*\}", text, re.S).group(1)
    theirs = {name: int(number) for name, number in re.findall(r"\b(cudaError\w*|cudaSuccess)\s*=\s*(\d+)", enum)}
    wrong = [] if len(theirs) > 100 else ["errors.def: the headers' enumeration could not be read"]
    for name, number in theirs.items():
        if ours.get(name) != number:
            wrong.append(f"errors.def: {name} is {number} in CUDA {version}, here {ours.get(name)}")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tables", type=pathlib.Path, default=HERE)
    options.add_argument("include", type=pathlib.Path, nargs="+")
    options = options.parse_args()
    symbols, wrong, declared = read_symbols(options.tables), [], {}
    for include in options.include:
        version = version_of(include)
        of_all = declared.setdefault(version // 1000, {})
        found = functions(include)
        of_all.update(found)
        exported = exports(include)
        wrong += check_names(symbols, version, sorted({*found, *exported}))
        wrong += check_errors(options.tables, include, version)
        if gcc(include, assertions(options.tables, version), "-fsyntax-only") is None:
            wrong.append(f"structures of CUDA {version} are not as here")
        print(f"CUDA {version // 1000}.{version % 1000 // 10}: {len(found)} functions declared, {len(exported)} in the library")
    if 12 in declared and 13 in declared:
        wrong += check_parameters(symbols, declared[12], declared[13])
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
