#!/bin/sh
# Every mutant through the whole grader: it must be rejected with the pattern that its first line
# names, and what is right must pass.
#
#     /* expect: weights_flipped */      this pattern, exit status 1
#     /* expect: pass */                 exit status 0
#     /* expect: none */                 rejected, without a pattern
#
#   CONVLAB_BUILD=build mutants.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "mutants: seed $seed"

# reject MILESTONE LIBRARY SOURCE: the grader's verdict on one mutant.
tested=0 good=0
reject() {
    name=$(basename "$3")
    source=$3
    expected=$(sed -n '1s|.*expect: \([a-z0-9_]*\).*|\1|p' "$source")
    "$build/grader" "$1" --lib "$2" --quick --images 1 --seed "$seed" $4 --report "$scratch/report" >"$scratch/out" 2>&1
    status=$?
    pattern=$(sed -n 's/^ *pattern: //p' "$scratch/out" | head -n 1)
    case $expected in
    pass) wanted="0 " ;;
    none) wanted="1 " ;;
    *) wanted="1 $expected" ;;
    esac
    tested=$((tested + 1))
    if [ "$status $pattern" = "$wanted" ]; then
        good=$((good + 1))
    else
        echo "FAILED: $name: expected exit status and pattern '$wanted', got '$status $pattern'"
        cat "$scratch/out"
    fi
}

for source in "$here"/*.c; do
    library=$build/mutants/$(basename "$source" .c)/libconv.so
    [ -e "$library" ] || continue # does_not_compile: see cli/hostile.case
    reject m1 "$library" "$source"
done
for source in "$here"/../mutants_cuda/*.cu; do
    library=$build/mutants_cuda/$(basename "$source" .cu)/libconv.so
    [ -e "$library" ] || continue # no nvcc here
    reject m2 "$library" "$source" '--device virtual'
done
echo "Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
[ "$tested" = "$good" ] && [ "$tested" -gt 0 ]
