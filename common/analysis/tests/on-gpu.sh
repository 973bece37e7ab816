#!/bin/sh
# What Nsight Compute says of the kernels that one thing limits, and of the references, on a real GPU.
#
#   on-gpu.sh BUILD_FOLDER FILE     writes FILE, a table for beside-gpu.sh
#
# Needs ncu, and in BUILD_FOLDER tests/limiters, tests/conv_times and reference/m2 ... m9.
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sections="--section SpeedOfLight --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis
    --section MemoryWorkloadAnalysis_Tables --section WarpStateStats --section Occupancy --section LaunchStats"

profile() { # NAME PROGRAM...
    name=$1
    shift
    # shellcheck disable=SC2086
    ncu --clock-control none $sections -f -o "$work/$name" "$@" >"$work/$name.log" 2>&1 || cat "$work/$name.log" >&2
    ncu --import "$work/$name.ncu-rep" --csv --page raw >"$work/$name.csv" && awk -f "$here/ncu.awk" "$work/$name.csv"
}

profile limiters "$build/tests/limiters" >"$work/first" &&
    profile references -k 'regex:conv_|unroll|multiply|pack|order' "$build/tests/conv_times" --once 100 \
        "$build"/reference/m[2-9]/libconv.so >"$work/second" &&
    { cat "$work/first" && tail -n +2 "$work/second"; } >"$2"
