#!/bin/sh
# Grades every mutant with the whole grader: it must be rejected with the pattern that its first line names, and right
# submissions must pass.
#
#     /* expect: weights_flipped */      this pattern, exit status 1
#     /* expect: unwritten|guard */      either of these, if it depends on when a thread runs
#     /* expect: pass */                 exit status 0
#     /* expect: none */                 rejected, without a pattern
#     /* expect: killed */               without a sandbox the grader is killed, which is not a pass,
#                                        and leaves no process
#     /* op time: that of right */       its Op Time must not be shorter than that of the mutant "right"
#
# After the pattern, (behaviour) or (build) marks mutants that only this script grades, not the module's own test
# (grader/diagnose/tests/test_diagnose.c). `make mutants` builds all of them and runs this.
#
#   CONVLAB_BUILD=build mutants.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
. "$here/../../../common/mk/tests/claims.sh"
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "mutants: seed $seed"

# is_as_slow FILE: succeeds if no Op Time in it is shorter than that of right.cu (which was graded before).
is_as_slow() {
    paste "$1" "$scratch/right.cu.times" | awk '$3 < $6 { short = 1 } END { exit short || NR == 0 }'
}

# is_gone LIBRARY: succeeds if no process of a grading is left within two seconds. (A runner is recognised by its
# library, the others by their environment.)
is_gone() {
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f "runner .*$1" >/dev/null || grep -lsz "^GRADED_IN=$scratch\$" /proc/[0-9]*/environ >/dev/null || return 0
        sleep 0.2
    done
    return 1
}

# reject MILESTONE LIBRARY SOURCE: checks the grader's verdict on one mutant.
reject() {
    name=$(basename "$3")
    source=$3
    expected=$(sed -n '1s,.*expect: \([a-z0-9_|]*\).*,\1,p' "$source")
    alone= # a mutant that kills its parent's group must not kill this script
    [ "$expected" = killed ] && alone='setsid -w' open=--no-sandbox || open=
    GRADED_IN="$scratch" $alone "$build/grader" "$1" --lib "$2" --quick --images 1 --seed "$seed" $open $4 --report "$scratch/report" >"$scratch/out" 2>&1
    status=$?
    pattern=$(sed -n 's/^ *pattern: \([^ ]*\).*/\1/p' "$scratch/out" | head -n 1)
    case $expected in
    pass) wanted="0 " ;;
    none) wanted="1 " ;;
    killed) wanted="137 " ;;
    *) wanted="1 $expected"
        case "|$expected|" in *"|${pattern:--}|"*) [ "$status" -ne 1 ] || wanted="1 $pattern" ;; esac ;;
    esac
    grep -o 'Op Time: [0-9.]*' "$scratch/out" >"$scratch/$name.times"
    if grep -q '^/\* op time: that of right' "$source" && ! is_as_slow "$scratch/$name.times"; then
        fails "$name: its Op Times are shorter than those of right.cu:"
        paste "$scratch/$name.times" "$scratch/right.cu.times"
    elif [ "$expected" = killed ] && ! is_gone "$2"; then
        fails "$name: processes of its grading are left running"
    elif [ "$status $pattern" = "$wanted" ]; then
        passes
    else
        fails "$name: expected exit status and pattern '$wanted', got '$status $pattern'"
        cat "$scratch/out"
    fi
}

# check MILESTONE FOLDER SOURCE MORE: the same for a library that must have been built.
check() {
    library=$build/$2/$(basename "${3%.*}")/libconv.so
    if [ -e "$library" ]; then
        reject "$1" "$library" "$3" "$4"
    else
        fails "$(basename "$3"): $library is missing (hint: run: make mutants)"
    fi
}

for source in "$here"/*.c; do
    [ "${source##*/}" = does_not_compile.c ] || check m1 mutants "$source" # (for cli/hostile.case only)
done
if [ -d "$build/mutants_cuda" ]; then
    for source in "$here"/../mutants_cuda/*.cu; do check m2 mutants_cuda "$source" '--device virtual'; done
else
    echo 'skipped: mutants of GPU milestones: they are not built (hint: they need nvcc)'
fi
claims_end && [ "$tested" -gt 0 ]
