#!/bin/sh
# Grades plain textbook solutions in various styles: right, with the technique of their milestone, and without the
# techniques of later milestones. Each must get all points that a run with 100 images can give, including speed (m13:
# 1000 images). `make test` grades each milestone's first solution in this way, and the others with --quick. `make
# techniques` grades all solutions in this way (--all), and those in more/ with --quick (--more).
#
#   CONVLAB_BUILD=build textbook.sh [--all | --more] [NAME ...]
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
. "$here/../../../common/mk/tests/claims.sh"
set=some before=
case $1 in --all | --more) set=${1#--} && shift ;; esac
[ "$set" = some ] && [ $# -gt 0 ] && set=all
[ "$set" = more ] && here=$here/more
[ "$set" = some ] && export LAB_CODE=90 LAB_STD=c++14 # faster to compile (see common/mk/labs.mk)
# If it is unrolled for all 100 images at once, the second layer has 101 MB: a program must allocate less.
sed 's/^global_bytes: .*/global_bytes: 94371840/' "$build/vgpu/profiles/h200.yaml" >"$scratch/small.yaml"
for name in ${*:-$(cd "$here" && echo m*.cu | sed 's/\.cu//g')}; do
    device=virtual
    [ "$name" = m5_batch ] && device=virtual:$scratch/small.yaml
    milestone=${name%%_*}
    how='--images 100'
    case $name in m13_*) how='--images 1000' ;; esac # their check "speed" needs them
    left='[12][05]' # points that only larger sizes give
    case $set$milestone/$name in
    */m5_batch) ;; # needs all images
    more*) how=--quick left='[0-9]*' ;; # (without --images, --quick stops kernels that repeat their work)
    some"$before"/*) how='--images 1 --quick' left='[0-9]*' ;;
    esac
    before=$milestone
    "$build/grader" "$milestone" --source "$here/$name.cu" --device "$device" $how \
        --report "$scratch/report" >"$scratch/out" 2>&1
    score=$(sed -n "s/^Score: \([0-9.]*\) of the \1 automatic points checked in this run; $left not.*/\1/p" "$scratch/out")
    if [ "$score" ]; then
        passes
    else
        fails "$name.cu does not get all points:"
        cat "$scratch/out"
    fi
done
claims_end && [ "$tested" -gt 0 ]
