#!/bin/sh
# How long whole gradings take, against their goals: the median of three runs each.
#
#   bench-grader.sh BUILD_FOLDER [NVCC]
build=$1
nvcc=${2:-}

# median_of_three GOAL_SECONDS NAME COMMAND...
median_of_three() {
    goal=$1
    name=$2
    shift 2
    for run in 1 2 3; do
        begin=$(date +%s%N)
        "$@" >/dev/null || exit 1
        end=$(date +%s%N)
        echo $(((end - begin) / 1000000))
    done | sort -n | sed -n 2p | {
        read -r ms
        printf '  %-40s %6d.%03d s   goal %s s\n' "$name" $((ms / 1000)) $((ms % 1000)) "$goal"
    }
}

# grading GOAL_SECONDS ARGUMENTS...
grading() {
    goal=$1
    shift
    median_of_three "$goal" "grader $*" "$build/grader" "$@"
}

# As after an edit of the kernel: make takes the reference's source for changed.
compile_and_grade() { # MILESTONE SOURCE
    make --no-print-directory -W "$2" "$build/reference/$1/libconv.so" &&
        "$build/grader" "$1" --reference --device virtual
}

echo 'Whole gradings, from a built tree:'
grading 30 m1 --reference
grading 3 m1 --reference --quick
if [ -n "$nvcc" ]; then
    median_of_three 15 'make m2 && grader m2 --device virtual' \
        compile_and_grade m2 reference/m2-gpu-baseline/conv.cu
else
    echo '  skip: GPU milestones: no nvcc (hint: make bench CUDA_HOME=FOLDER)'
fi
