#!/bin/sh
# Compares each kernel's limiter on the virtual GPU with the limiter on a real GPU, measured by Nsight Compute.
#
#   compare-limiters.sh BUILD_FOLDER RESULTS_FOLDER >analysis.md
#
# RESULTS_FOLDER has ncu-limiters.tsv and ncu-references.tsv, written on a machine with a GPU by
#
#   vprof --device gpu --analysis -o ncu-limiters.tsv build/tests/limiters
#   vprof --device gpu --analysis -o ncu-references.tsv --kernels 'conv_|unroll|multiply|pack|order' \
#       build/tests/conv_times --once 100 build/reference/m[2-9]/libconv.so
build=$1
results=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$build/vprof" --device virtual --analysis --log-file "$work/limiters" "$build/tests/limiters" >/dev/null &&
    "$build/vprof" --device virtual --analysis --log-file "$work/references" "$build/tests/conv_times" --once 100 \
        "$build"/reference/m[2-9]/libconv.so >/dev/null || exit 1
for run in limiters references; do
    "$build/vprof" --import-profile "$results/ncu-$run.tsv" --analysis --log-file "$work/ncu-$run" || exit 1
    awk -f "$here/verdicts.awk" "$here/../limiters.def" "$work/$run" >>"$work/virtual"
    awk -f "$here/verdicts.awk" "$here/../limiters.def" "$work/ncu-$run" >>"$work/real"
done

cat <<'END'
# The limiter of a kernel: the virtual GPU and an H200 compared

Made by `common/analysis/tests/compare-limiters.sh build docs/results/h200`: verdicts of `vprof --analysis` on the
virtual GPU and on an H200, where Nsight Compute measured how busy each unit was (`ncu-limiters.tsv`, `ncu-references.tsv`).
The kernels are kernels with a single limiter (`common/analysis/tests/limiters.cu`), and the references at 100 images
with a cold L2 cache. Two verdicts are *near* if they belong to one family: the arithmetic units and the issue of
instructions; the levels of memory; waiting, for any reason.

| kernel | grid | virtual GPU | H200 | | us, modelled | us, H200 |
|---|---|---|---|---|---:|---:|
END
awk -F'\t' '
    BEGIN {
        split("fp32 issue int special fp64 fp16 tensor divergence", a, " ")
        split("shared bank_conflicts l1 l2 dram uncoalesced local", m, " ")
        split("latency few_blocks small_blocks launch barriers atomic", w, " ")
        for (i in a) family[a[i]] = "arithmetic"
        for (i in m) family[m[i]] = "memory"
        for (i in w) family[w[i]] = "waiting"
    }
    FNR == NR { limiter[$1, $2] = $3; ns[$1, $2] = $4; next }
    ($1, $2) in limiter {
        mine = limiter[$1, $2]
        verdict = mine == $3 ? "same" : (mine in family) && family[mine] == family[$3] ? "near" : "other"
        count[verdict]++
        kernels++
        printf "| `%s` | %s | %s | %s | %s | %.1f | %.1f |\n", $1, $2, mine, $3, verdict, ns[$1, $2] / 1000, $4 / 1000
    }
    END { printf "\nOf %d verdicts %d are the same and %d are near.\n", kernels, count["same"], count["near"] }
' "$work/virtual" "$work/real"
