#!/bin/sh
# Checks the modelled times of convolutions that differ in one respect. On an H200, uncoalesced loads make the second
# layer of two-layer 1.6 times as slow (docs/results/h200/model.tsv), and few threads make it 20 times as slow.
#
#   clock.sh [BUILD_FOLDER]     (default: CONVLAB_BUILD)
build=${1:-${CONVLAB_BUILD:-build}}
. "$(dirname "$0")/../../../common/mk/tests/claims.sh"
times=$("$build/vgpu-run" "$build/tests/conv_times" --once 10 "$build/mutants_cuda/right/libconv.so" \
    "$build/mutants_cuda/right_uncoalesced/libconv.so" "$build/mutants_cuda/right_grid_stride/libconv.so")

# check LIBRARY LEAST MOST: checks the ratio of the library's time to the plain library's, in this layer.
check() {
    ratio=$(echo "$times" | awk -F'\t' -v library="$1" '
        $3 == "two-layer.2" {ns[$1] = $4}
        END {if (ns["right"] > 0) printf "%.2f", ns[library] / ns["right"]}')
    if awk "BEGIN {exit !(${ratio:-0} >= $2 && ${ratio:-0} <= $3)}"; then
        passes
    else
        fails "$1: ${ratio:-no} times the time of the plain one, expected $2 to $3"
    fi
}
check right_uncoalesced 1.3 2
check right_grid_stride 4 40

claims_end
