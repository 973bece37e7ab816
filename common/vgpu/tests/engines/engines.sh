#!/bin/sh
# The engines of the virtual GPU agree on some random programs, the same ones each time, and on the
# corpus of the fuzzers; of a few planted mistakes each is found. make vgpu-engines runs others.
tested=0 failed=0
build=${CONVLAB_BUILD:-build}
log=$build/tests/engines-part.log

# check NAME COMMAND...
check() {
    name=$1
    shift
    tested=$((tested + 1))
    "$@" >"$log" 2>&1 && return
    failed=$((failed + 1))
    cat "$log"
    echo "FAILED $name"
}

engines="$build/vgpu-engines --keep $build/engines"
check 'random programs' $engines --seed 1 --count 50
check 'the corpus of the fuzzers' $engines common/vgpu/tests/corpus/ptx/*.ptx
for mistake in 'a missing barrier' 'no guard' 'one turn more' 'source lines' 'a check of one byte less'; do
    check "planted: $mistake" $engines --plant "$mistake" --count 300 --b base
done
check 'planted in the other engine: no guard' $engines --plant 'no guard' --count 300 --b base:1:native

echo "Tested: $tested | Passing: $((tested - failed)) | Failing: $failed | Crashing: 0"
[ "$failed" = 0 ]
