#!/bin/sh
# Tests the GPU benchmark on the virtual GPU: it measures right libraries, rejects wrong ones, and reports why it skips
# missing ones.
#
#   CONVLAB_BUILD=build gpubench.sh
build=${CONVLAB_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
top=$(cd "$(dirname "$0")/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
claims_show=$scratch/out.log

# cell SUBJECT COLUMN: prints a field of bench.tsv, found by the names of row and column.
cell() {
    awk -F '\t' -v subject="$1" -v column="$2" '
        NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i}
        $at["subject"] == subject {print $at[column]}' "$scratch/out/bench.tsv"
}

is() { # EXPECTED GOT
    [ "$1" = "$2" ] || { echo "expected '$1', got '$2'"; false; }
}

variants=$(cd "$build/variants" && echo *.so | sed 's/\.so//g')
# shellcheck disable=SC2046
"$build/vgpu-run" "$build/gpubench" --only one-layer --images 2 --out "$scratch/out" \
    $(for v in $variants; do echo "$v=$build/variants/$v.so"; done) \
    right="$build/mutants_cuda/right/libconv.so" \
    cut="$build/mutants_cuda/last_row_missing/libconv.so" \
    stale="$build/mutants_cuda/not_cleared/libconv.so" \
    m12="$build/reference/m12/libconv.so" float32="$build/reference/m12/libconv.so" \
    m13="$build/reference/m13/libconv.so" absent="$scratch/absent.so" >"$scratch/out.log" 2>&1
status=$?

claim 'a right library is measured' is ok "$(cell right status)"
claim 'its time is above the floor' awk "BEGIN {exit !($(cell right median_ms) > $(cell right floor_ms))}"
claim 'unwritten outputs are wrong' is wrong "$(cell cut status)"
claim 'outputs that depend on earlier contents are wrong' is wrong "$(cell stale status)"
claim 'a wrong subject has no time' is '' "$(cell cut median_ms)"
claim 'the exit status says that something was wrong' is 1 "$status"
claim 'a milestone is judged by the tolerance of its rubric' is ok "$(cell m12 status)"
claim 'others by that of float32' is wrong "$(cell float32 status)"
claim 'a milestone that copies by itself is left to the grader' is skip "$(cell m13 status)"
claim 'as the reason says' is 'takes tensors in host memory: grader m13 measures its Layer Times' "$(cell m13 note)"
claim 'a library that is not there is skipped' is skip "$(cell absent status)"
claim 'cuDNN is skipped on the virtual GPU' is skip "$(cell cudnn status)"
claim 'with the reason' is 'cuDNN does not run on the virtual GPU' "$(cell cudnn note)"
claim 'sums leave out what was not measured' is '2 right' \
    "$(awk '$1 == "one-layer" && $5 == "ms" {print $2, $3}' "$scratch/out.log" | grep -v "m12\|$(echo "$variants" | sed 's/ /\\|/g')")"
claim 'its unit shapes are right from and to host memory' sh -c \
    "'$build/vgpu-run' '$build/gpushapes' m13='$build/reference/m13/libconv.so' | grep -q '^60	60	'"
claim 'there are variants of the sum' test "$(echo "$variants" | wc -w)" -ge 13
for v in $variants; do claim "variant $v is right" is ok "$(cell "$v" status)"; done

"$build/vgpu-run" "$build/gpubench" --images 0 >"$scratch/out.log" 2>&1
claim 'an impossible size is refused' is 2 $?
claim 'in a line that says what was expected' grep -q 'images: expected .* from 1 .* got' "$scratch/out.log"

# Runs make gpu-check on the virtual GPU, with one right and one wrong reference, and makes its page.
mkdir -p "$scratch/build/reference/m2" "$scratch/build/reference/m3"
for f in vgpu vgpu-run vgpu-device gpubench gpushapes; do ln -s "$build/$f" "$scratch/build/$f"; done
ln -s "$build/mutants_cuda/right/libconv.so" "$scratch/build/reference/m2/libconv.so"
ln -s "$build/mutants_cuda/last_row_missing/libconv.so" "$scratch/build/reference/m3/libconv.so"
(cd "$top" && PARTS='virtual sanitizer' common/mk/gpu-check.sh "$scratch/build" "$(common/mk/find-cuda.sh)" "$scratch/results" virtual) \
    >"$scratch/out.log" 2>&1
claim 'gpu-check fails if a reference is wrong' is 1 $?
row() { awk -F '\t' -v m="$1" '$1 == m {print $3 " " $5}' "$scratch/results/virtual-gpu/against-virtual.tsv" | tail -n 1; }
claim 'and its table says which is right' is 'ok 60' "$(row m2)"
claim 'and which is not' is 'failed 0' "$(row m3)"
claim 'a step that needs a GPU is skipped' grep -q 'm2	all	skip' "$scratch/results/virtual-gpu/sanitizer.tsv"
"$top/common/mk/results-page.py" "$scratch/results/virtual-gpu" "$build" >"$scratch/out.log" 2>&1
claim 'no page is made of half of the tables' is 2 $?
claim 'and it names the missing one' grep -q 'results-page: .*bench.tsv is missing (hint: run: make gpu-check)' "$scratch/out.log"

claims_end
