#!/bin/sh
# All programs of programs/ with NVIDIA's runtime inside, as nvcc links by default: each must end and print
# as the one with the shared runtime does.
#
#   own-runtime.sh BUILD_FOLDER NVCC
build=$1 nvcc=$2
here=$(dirname "$0")
made=$build/vgpu/own-runtime
equal=0 different=0
mkdir -p "$made"

result() { # PROGRAM: its output and exit status
    timeout 300 "$build/vgpu-run" "$1" 2>"$made/log"
    echo "exit status $?"
}

for source in "$here"/programs/*.cu; do
    name=$(basename "$source" .cu)
    flags=$(sed -n 's|^// nvcc: ||p' "$source")
    case $flags in *-std=*) ;; *) flags="-std=c++14 $flags" ;; esac
    case $flags in *-arch=* | *-gencode*) ;; *) flags="-arch=compute_75 $flags" ;; esac
    # shellcheck disable=SC2086
    if "$nvcc" -lineinfo -Icommon $flags "$source" -o "$made/$name" 2>"$made/log" &&
        [ "$(result "$made/$name")" = "$(result "$build/vgpu/tests/programs/$name")" ]; then
        equal=$((equal + 1))
    else
        different=$((different + 1))
        echo "DIFFERENT $name"
        head -n 5 "$made/log"
    fi
    rm -f "$made/$name"
done
echo "$equal programs with NVIDIA's runtime inside are equal to those with the shared one, $different differ"
[ "$different" = 0 ]
