#!/bin/sh
# Runs the CUDA programs on the virtual GPU: those of programs/ must pass and have no findings, those of
# faults/ must have the finding that their source announces.
#
#   check.sh [BUILD_FOLDER [NAME...]]     (the folder is otherwise that of CONVLAB_BUILD)
#
# In a source:  // vgpu: faults               findings are meant to be there
#               // expect: out_of_bounds      on the line of the fault: that kind, there
#               // expect error: 700          what cudaDeviceSynchronize() is to return
# Ends with the line of totals that run-tests.sh reads; exit status 1 if anything failed.
build=${1:-${CONVLAB_BUILD:-build}}
[ $# -gt 0 ] && shift
here=$(dirname "$0")
passed=0 failed=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail() {
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n' "$1" "$2"
    sed 's/^/    /' "$scratch/out" "$scratch/err" | head -n 20
}

run() { # PROGRAM
    rm -f "$scratch"/*
    : >"$scratch/out" >"$scratch/err"
    timeout "${VGPU_TIMEOUT:-120}" "$build/vgpu-run" --faults "$scratch/faults.tsv" "$1" \
        >"$scratch/out" 2>"$scratch/err"
}

wanted() { # NAME
    [ -z "$names" ] && return 0
    case " $names " in *" $1 "*) return 0 ;; esac
    return 1
}

names=$*
for source in "$here"/programs/*.cu; do
    name=$(basename "$source" .cu)
    wanted "$name" || continue
    program=$build/vgpu/tests/programs/$name
    if [ ! -x "$program" ]; then
        fail "$name" "not built"
        continue
    fi
    run "$program"
    status=$?
    findings=$(tail -n +2 "$scratch/faults.tsv" 2>/dev/null | wc -l)
    if [ "$status" -ne 0 ]; then
        fail "$name" "exit status $status"
    elif [ "$findings" -gt 0 ] && ! grep -q '^// vgpu: faults' "$source"; then
        fail "$name" "$findings findings in a clean program: $(sed -n 2p "$scratch/faults.tsv")"
    else
        passed=$((passed + 1))
        tail -n 1 "$scratch/out"
    fi
done

for source in "$here"/faults/*.cu; do
    name=$(basename "$source" .cu)
    wanted "$name" || continue
    program=$build/vgpu/tests/faults/$name
    if [ ! -x "$program" ]; then
        fail "$name" "not built"
        continue
    fi
    run "$program"
    status=$?
    # kind and line of each announced finding, and of each that was made
    grep -n '// expect: ' "$source" | sed 's|^\([0-9]*\):.*// expect: *\([a-z_]*\).*|\2 \1|' |
        sort -u >"$scratch/want"
    cut -f 1,4 "$scratch/faults.tsv" 2>/dev/null | tail -n +2 | tr '\t' ' ' | sort -u >"$scratch/got"
    if ! cmp -s "$scratch/want" "$scratch/got"; then
        fail "$name" "expected $(tr '\n' ',' <"$scratch/want") got $(tr '\n' ',' <"$scratch/got")"
    elif [ "$status" -ne 0 ]; then
        fail "$name" "the program saw another error than it expects"
    else
        passed=$((passed + 1))
        printf 'PASS %s: %s\n' "$name" "$(tr '\n' ' ' <"$scratch/got")"
    fi
done
# Programs that cannot run: each is told why, in one line, and fails.
refused() { # NAME PROGRAM TEXT
    wanted "$1" || return 0
    timeout 60 "$build/vgpu-run" "$2" >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ "$status" -eq 0 ] || [ "$status" -gt 2 ]; then
        fail "$1" "exit status $status"
    elif ! grep -q -- "$3" "$scratch/err" || [ "$(wc -l <"$scratch/err")" -ne 1 ]; then
        fail "$1" "no message, or more than one"
    else
        passed=$((passed + 1))
        printf 'PASS %s: %s\n' "$1" "$(cat "$scratch/err")"
    fi
}

vector_add=$here/programs/vector_add.cu
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -x "$nvcc" ]; then
    rm -f "$scratch"/*
    "$nvcc" -std=c++17 -I"$here/../.." -arch=compute_75 "$vector_add" -o "$scratch/static"
    refused static_runtime "$scratch/static" 'nvcc -cudart shared'
    "$nvcc" -std=c++17 -I"$here/../.." -gencode arch=compute_75,code=sm_75 -cudart shared \
        "$vector_add" -o "$scratch/sass"
    refused machine_code_only "$scratch/sass" 'machine code for sm_75 only'
    cp "$build/vgpu/tests/programs/vector_add" "$scratch/damaged"
    at=$(LC_ALL=C grep -abo "$(printf '\050\265\057\375')" "$scratch/damaged" | head -n 1 | cut -d: -f1)
    printf 'XXXX' | dd of="$scratch/damaged" bs=1 seek="$at" conv=notrunc 2>/dev/null
    refused damaged_gpu_code "$scratch/damaged" 'damaged: zstd cannot decompress'
fi

printf 'Tested: %s | Passing: %s | Failing: %s | Crashing: 0\n' $((passed + failed)) "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
