#!/bin/sh
# Tests that the engines of the virtual GPU agree on some random programs (the same in every run) and on the fuzzers'
# corpus, and that the comparison finds a few planted mistakes. make vgpu-engines runs other programs.
. common/mk/tests/claims.sh
build=${CONVLAB_BUILD:-build}
engines="$build/vgpu-engines --keep $build/engines"
claim 'random programs: instruction sets and cores' $engines --seed 1 --count 40 --b avx2:2,avx512
claim 'random programs: native code' $engines --seed 1 --count 8 --b avx512:2:native
claim 'the corpus of the fuzzers, and cases that differed' $engines --b avx2:1:native,avx512:1:native \
    common/vgpu/tests/corpus/ptx/*.ptx common/vgpu/tests/engines/cases/*.ptx
for mistake in 'a missing barrier' 'an inverted guard' 'one turn more' 'source lines' 'a check of one byte less'; do
    claim "planted: $mistake" $engines --plant "$mistake" --count 3000 --b base
done
if [ -e "$build/vgpu/libvgpu-native.so" ]; then
    claim 'planted in the translator' $engines --plant 'translator: inverted guards' --count 20
fi
claims_end
