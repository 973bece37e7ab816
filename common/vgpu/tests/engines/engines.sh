#!/bin/sh
# Tests that the engines of the virtual GPU agree on some random programs (the same in every run) and on the fuzzers'
# corpus, and that the comparison finds a few planted mistakes. make vgpu-engines runs other programs.
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
check 'random programs: instruction sets and cores' $engines --seed 1 --count 40 --b avx2:2,avx512
check 'random programs: native code' $engines --seed 1 --count 8 --b avx512:2:native
check 'the corpus of the fuzzers, and cases that differed' $engines --b avx2:1:native,avx512:1:native \
    common/vgpu/tests/corpus/ptx/*.ptx common/vgpu/tests/engines/cases/*.ptx
for mistake in 'a missing barrier' 'an inverted guard' 'one turn more' 'source lines' 'a check of one byte less'; do
    check "planted: $mistake" $engines --plant "$mistake" --count 3000 --b base
done
if [ -e "$build/vgpu/libvgpu-native.so" ]; then
    check 'planted in the translator' $engines --plant 'translator: inverted guards' --count 20
fi

echo "Tested: $tested | Passing: $((tested - failed)) | Failing: $failed | Crashing: 0"
[ "$failed" = 0 ]
