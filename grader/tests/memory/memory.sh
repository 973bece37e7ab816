#!/bin/sh
# Grades m1 in a control group with less memory than the tensors need: these go to a disk, and the points stay the same.
# If the user may not create a control group, the test is skipped.
#
#   CONVLAB_BUILD=build memory.sh [IMAGES MEBIBYTES]      (default: 2500 256; make memory-check: 10000 768)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
images=${1:-2500} limit=${2:-256}
. "$top/common/mk/tests/claims.sh"
group=
sandbox=$("$build/grader" sandbox >/dev/null 2>&1 || echo --no-sandbox)
trap 'rm -rf "$scratch"; [ -z "$group" ] || rmdir "$group"' EXIT

# make_group: creates a control group with this much memory, version 1 or 2, inside the current group.
make_group() {
    own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
    if [ -n "$own" ]; then
        group=/sys/fs/cgroup/memory$own/convlab-$$ file=memory.limit_in_bytes peak=memory.max_usage_in_bytes
    else
        own=$(sed -n 's/^0:://p' /proc/self/cgroup)
        group=/sys/fs/cgroup$own/convlab-$$ file=memory.max peak=memory.peak
    fi
    mkdir "$group" 2>/dev/null || { group=; return 1; }
    echo "$((limit << 20))" 2>/dev/null >"$group/$file" && (echo 0 >"$group/cgroup.procs") 2>/dev/null
}

# graded CLAIM WORDS ARGUMENTS...: a grading in the group must print WORDS.
graded() {
    text=$1 words=$2
    shift 2
    (echo 0 >"$group/cgroup.procs" && exec "$build/grader" m1 "$@" $sandbox --report "$scratch/report") \
        >"$scratch/out" 2>&1
    grep -qF -- "$words" "$scratch/out" && passes && return
    fails "$text: no \"$words\" in:"
    cat "$scratch/out"
}

make_group || claims_skip 'memory: no control group with a memory limit can be made here (root may)'
graded "a right submission gets its points" "pass  inference_$images" --reference --images "$images"
claim "$images images are on disk, because they need more than $limit MiB" grep "memory is short, so x and y were on disk" "$scratch/out"
[ $# -eq 0 ] || grep -e inference_ "$scratch/out"
[ $# -eq 0 ] || echo "peak: $(($(cat "$group/$peak") >> 20)) MiB, pages of files included"
awk -v FOLDERS="$top/grader/tests/cheats $top/grader/tests/mutants" -f "$top/grader/tests/cheats/one_file.awk" \
    "$top/grader/tests/cheats/truncates_arena.c" >"$scratch/conv.c"
graded "a lab that makes the file smaller fails" "FAIL  inference_$images" --source "$scratch/conv.c" --images "$images"
claims_end
