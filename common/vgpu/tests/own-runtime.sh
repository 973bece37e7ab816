#!/bin/sh
# Runs all programs of programs/ with NVIDIA's runtime linked statically, as nvcc does by default: each must have the
# output and exit status of the program with the shared runtime. `make vgpu-own-runtime` builds both.
#
#   own-runtime.sh BUILD_FOLDER
build=$1
equal=0 different=0

result() { # PROGRAM: prints its output and exit status
    timeout 300 "$build/vgpu-run" "$1" 2>/dev/null
    echo "exit status $?"
}

for program in "$build"/vgpu/own-runtime/*; do
    name=$(basename "$program")
    if [ "$(result "$program")" = "$(result "$build/vgpu/tests/programs/$name")" ]; then
        equal=$((equal + 1))
    else
        different=$((different + 1))
        echo "DIFFERENT $name"
    fi
done
echo "$equal programs with NVIDIA's runtime inside are equal to those with the shared one, $different differ"
[ "$different" = 0 ] && [ "$equal" -gt 0 ]
