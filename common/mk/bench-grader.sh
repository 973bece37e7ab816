#!/bin/sh
# How long whole gradings take, against their goals: the median of three runs each.
#
#   bench-grader.sh BUILD_FOLDER
build=$1

# grading GOAL_SECONDS ARGUMENTS...
grading() {
    goal=$1
    shift
    for run in 1 2 3; do
        begin=$(date +%s%N)
        "$build/grader" "$@" >/dev/null || exit 1
        end=$(date +%s%N)
        echo $(((end - begin) / 1000000))
    done | sort -n | sed -n 2p | {
        read -r ms
        printf '  %-32s %6d.%03d s   goal %s s\n' "grader $*" $((ms / 1000)) $((ms % 1000)) "$goal"
    }
}

echo 'Whole gradings, from a built tree:'
grading 30 m1 --reference
grading 3 m1 --reference --quick
