#!/bin/sh
# Measures the time of whole gradings against their goals; for short ones, the median of three runs.
#
#   bench-grader.sh BUILD_FOLDER [NVCC]
build=$1
nvcc=${2:-}

# took COMMAND...: runs the command and prints its time in ms.
took() {
    begin=$(date +%s%N)
    "$@" >/dev/null || exit 1
    end=$(date +%s%N)
    echo $(((end - begin) / 1000000))
}

# show GOAL_SECONDS NAME: prints the time on standard input beside its goal.
show() {
    read -r ms
    printf '  %-40s %6d.%03d s   goal %s s\n' "$2" $((ms / 1000)) $((ms % 1000)) "$1"
}

# grading GOAL_SECONDS ARGUMENTS...
grading() {
    goal=$1
    shift
    for run in 1 2 3; do took "$build/grader" "$@"; done | sort -n | sed -n 2p | show "$goal" "grader $*"
}

# Compiles as after an edit: make finds the reference's source changed.
compile_and_grade() { # MILESTONE SOURCE
    make --no-print-directory -W "$2" "$build/reference/$1/libconv.so" &&
        "$build/grader" "$1" --reference --device virtual
}

# The plain loops, graded like a student's first right solution: grading time divided by the sum of the Op Times, per
# size.
plain_loops() {
    "$build/grader" m1 --lib "$build/reference/m1/libconv-plain.so" >"$scratch/out" || exit 1
}
plain_ratio() { # MS
    awk -v s="$1" '$1 == "Op" { once += 1e3 * $3 } END { printf "  %-40s %10.2f times their Op Times, goal 1.3\n", "", s / once }' \
        "$scratch/out"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

echo "Whole gradings at 100, 1000 and 10000 images, from a built tree, load $(cut -d' ' -f1 /proc/loadavg) when started:"
grading 30 m1 --reference
grading 3 m1 --reference --quick
ms=$(took plain_loops)
echo "$ms" | show 200 'grader m1, plain loops'
plain_ratio "$ms"
if [ -n "$nvcc" ]; then
    grading 2 m2 --reference --device virtual --quick
    for source in reference/m[2-9]*/conv.cu; do
        milestone=${source#reference/}
        milestone=${milestone%%-*}
        took compile_and_grade "$milestone" "$source" |
            show 40 "make $milestone && grader $milestone --device virtual"
    done
else
    echo '  skip: GPU milestones: no nvcc (hint: make setup)'
fi
