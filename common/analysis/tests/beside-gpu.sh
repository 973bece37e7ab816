#!/bin/sh
# What the analysis on the virtual GPU names as a kernel's limiter, beside what Nsight Compute measured on a
# real one.
#
#   beside-gpu.sh BUILD_FOLDER NCU.tsv >analysis.md      (NCU.tsv: from on-gpu.sh)
#
# A verdict that names a part, or a waste of it, is supported when that part is the busiest of all that ncu
# measured; one that names a launch, a grid or waiting, when no part is above 60% of its peak (ncu's own threshold
# for "latency").
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$build/vprof" --device virtual --analysis --log-file "$work/limiters" "$build/tests/limiters" >/dev/null &&
    "$build/vprof" --device virtual --analysis --log-file "$work/references" "$build/tests/conv_times" --once 100 \
        "$build"/reference/m[2-9]/libconv.so >/dev/null || exit 1
for run in limiters references; do
    awk -f "$here/verdicts.awk" "$here/../limiters.def" "$work/$run"
done | sed 's/int=//g' >"$work/verdicts"

cat <<'END'
# What limits a kernel: the virtual GPU beside an H200

Made by `common/analysis/tests/beside-gpu.sh build docs/results/h200/ncu.tsv`; `ncu.tsv` is what
`common/analysis/tests/on-gpu.sh` measured on an H200 with Nsight Compute: kernels that one thing limits
(`common/analysis/tests/limiters.cu`), and the references at 100 images with a cold L2 cache.

A verdict that names a part, or a waste of it, is supported when that part is the busiest of those that ncu
measured. One that names the launch, the grid or waiting is supported when no part is above 60% of its peak. The
last column but two is what warps waited for most, when they waited: it tells how far a part is from being the
whole story.

END
awk -F'\t' '
    # What ncu finds: the busiest part.
    function busiest(  i, most, part) {
        most = 0
        part = "none"
        for (i in parts)
            if ($column[parts[i]] > most) {
                most = $column[parts[i]]
                part = parts[i]
            }
        return part
    }
    BEGIN {
        split("issue fma heavy alu fp64 xu lsu l2 dram constant", parts, " ")
        supports["fp32"] = " fma issue "
        supports["issue"] = " issue fma alu "
        supports["int"] = " alu heavy issue "
        supports["special"] = " xu "
        supports["fp64"] = " fp64 "
        supports["divergence"] = " issue fma alu xu "
        supports["shared"] = supports["bank_conflicts"] = supports["l1"] = " lsu "
        supports["uncoalesced"] = supports["local"] = " lsu l2 dram "
        supports["l2"] = supports["dram"] = " l2 dram "
        supports["constant"] = " constant "
        supports["launch"] = supports["few_blocks"] = supports["small_blocks"] = supports["barriers"] = " - "
        supports["latency"] = supports["atomic"] = " - "
    }
    FNR == NR { limiter[$1, $2] = $3; ns[$1, $2] = $4; next }
    FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i
               print "| kernel | grid | verdict | busiest part | supported | waits | us, modelled | us, H200 |"
               print "|---|---|---|---|---|---|---:|---:|"
               next }
    ($1, $2) in limiter && !(($1, $2) in done) {
        done[$1, $2] = 1
        verdict = limiter[$1, $2]
        found = busiest()
        high = found == "none" ? 0 : $column[found]
        yes = index(supports[verdict], " " found " ") > 0 || (supports[verdict] == " - " && high <= 60)
        kernels++
        agree += yes
        printf "| `%s` | %s | %s | %s %d%% | %s | %s | %.1f | %.1f |\n", $1, $2, verdict, found, high,
            yes ? "yes" : "no", $column["stall"], ns[$1, $2] / 1000, $3 / 1000
    }
    END { printf "\n%d of %d verdicts are supported.\n", agree, kernels }
' "$work/verdicts" "$2"
