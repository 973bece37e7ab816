#!/bin/sh
# Grades plain textbook solutions in various styles: right, with their milestone's technique, and without the techniques
# of later milestones. Each must get all points that a run with 100 images gives, including speed (m13: 1000 images).
# more/ has others, which `make techniques` grades with --quick.
#
#   CONVLAB_BUILD=build textbook.sh [--more] [NAME ...]
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tested=0 good=0 quick=
if [ "$1" = --more ]; then
    shift
    here=$here/more quick=--quick
fi
# Unrolled for all 100 images at once, the second layer has 101 MB: a program must allocate less.
sed 's/^global_bytes: .*/global_bytes: 94371840/' "$build/vgpu/profiles/h200.yaml" >"$scratch/small.yaml"
for name in ${*:-$(cd "$here" && echo m*.cu | sed 's/\.cu//g')}; do
    tested=$((tested + 1))
    device=virtual
    [ "$name" = m5_batch ] && device=virtual:$scratch/small.yaml
    images=100
    case $name in m13_*) images=1000 ;; esac # their check "speed" needs them
    left='[12][05]' # the points that larger sizes give
    [ -z "$quick" ] || images=1 left='[0-9]*'
    "$build/grader" "${name%%_*}" --source "$here/$name.cu" --device "$device" --images $images $quick \
        --report "$scratch/report" >"$scratch/out" 2>&1
    score=$(sed -n "s/^Score: \([0-9.]*\) of the \1 automatic points checked in this run; $left not.*/\1/p" "$scratch/out")
    if [ "$score" ]; then
        good=$((good + 1))
    else
        echo "FAILED: $name.cu does not get all points:"
        cat "$scratch/out"
    fi
done
echo "Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
[ "$tested" = "$good" ] && [ "$tested" -gt 0 ]
