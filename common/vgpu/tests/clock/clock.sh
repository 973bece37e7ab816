#!/bin/sh
# Checks the model's limiters: a kernel with a single limiter must get this limiter. Also checks the times of uneven
# blocks: a block that does all the work is slow, whatever atomics it uses, but blocks that take uneven tiles from a
# queue are not. Concurrent launches must not take less time than one launch with all their work. A kernel starts only
# after the whole call that launches it.
#
#   clock.sh [BUILD_FOLDER]     (default: CONVLAB_BUILD)
build=${1:-${CONVLAB_BUILD:-build}}
. "$(dirname "$0")/../../../mk/tests/claims.sh"

"$build/vgpu-run" --trace "$scratch/trace.tsv" "$build/vgpu/tests/clock/microbench" --once --quick launch \
    arith_mad_int arith_fma64 arith_exp2 chain_shared load_l1 load_constant load_shared atomic_float \
    >"$scratch/out" 2>"$scratch/err" || cat "$scratch/out" "$scratch/err"

between=$(awk -F'\t' '$1 == "chain_shared" {print $3}' "$scratch/out")
kernel=$(awk -F'\t' '$2 == "chain_shared" {ns = $7} END {printf "%.0f", ns}' "$scratch/trace.tsv")
claim "chain_shared: $between ns between two events, of which the kernel takes $kernel; expected 4400 more" \
    [ "$((between - kernel - 4400))" -ge -1 -a "$((between - kernel - 4400))" -le 1 ]

# Uses the last launch of a kernel, which is its most demanding variant.
limiter() {
    awk -F'\t' -v kernel="$1" '
        NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next}
        $column["name"] == kernel {last = $column["limiter"]}
        END {print last}' "$scratch/trace.tsv"
}

while read -r kernel expected; do
    got=$(limiter "$kernel")
    claim "$kernel: limited by '$got', expected $expected" [ "$got" = "$expected" ]
done <<END
empty launch
arith_mad_int int
arith_fma64 fp64
arith_exp2 special
chain_shared latency
load_l1 l1
load_constant constant
load_shared shared
atomic_float atomic
END

"$build/vgpu-run" "$build/vgpu/tests/clock/microbench" --once --quick uneven overlap_ >"$scratch/times"

# Prints the time of a variant "NAME STEP" of a kernel, in ns.
time_of() {
    awk -F'\t' -v kernel="$1" -v step="$2" \
        '$1 == kernel && $2 ~ "^(one of|8 blocks an SM in) " step " " {print $3}' "$scratch/times"
}

while read -r kernel step least most; do
    even=$(time_of "$kernel" 1) uneven=$(time_of "$kernel" "$step")
    if [ "$((uneven * 100))" -ge "$((even * least))" ] && [ "$((uneven * 100))" -le "$((even * most))" ]; then
        passes
    else
        fails "$kernel: $even ns if all blocks work (or in 1 launch), $uneven ns if one of $step works (or in $step launches): expected $least to $most percent"
    fi
done <<END
uneven 1056 1000 10000
uneven_adds 1056 1000 10000
uneven_counts 1056 1000 10000
uneven_asks 1056 1000 10000
uneven_queue 3 80 120
overlap_fma 8 100 400
overlap_chain 8 100 400
overlap_read 8 100 400
END

claims_end
