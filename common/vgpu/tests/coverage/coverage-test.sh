#!/bin/sh
# Tests coverage.sh with a small collection: each verdict, an unexpected one, and a resumed run.
#
#   CONVLAB_BUILD=build coverage-test.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
nvcc=$("$here/../../../mk/find-cuda.sh")/bin/nvcc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tested=0 good=0
tab=$(printf '\t')

program() { # NAME VERDICT CODE: one thread of a kernel runs the code
    mkdir -p "$scratch/programs/$1"
    printf '#include <cstdio>\n__global__ void f(int *x) { %s }\nint main() { int *x; cudaMalloc(&x, 4); f<<<1, 1>>>(x);\n' \
        "$3" >"$scratch/programs/$1/main.cu"
    printf 'printf("%%s\\n", cudaDeviceSynchronize() ? "FAIL" : "PASS"); return 0; }\n' >>"$scratch/programs/$1/main.cu"
    printf '%s\t-arch=compute_75\t-\t%s\n' "$1" "$2" >>"$scratch/own.tsv"
}

claim() { # TEXT COMMAND...
    tested=$((tested + 1))
    text=$1 && shift
    if "$@" >/dev/null 2>&1; then good=$((good + 1)); else
        echo "FAILED: $text"
        cat "$scratch/page" "$scratch/err"
    fi
}

cover() { TABLES=$scratch LIMIT=5 "$here/coverage.sh" "$scratch/build" "$1" "$scratch/page" own="$scratch/programs" 2>"$scratch/err"; }

mkdir -p "$scratch/build"
ln -s "$build/vgpu-run" "$scratch/build/vgpu-run"
printf 'folder\tflags\targuments\tverdict\n' >"$scratch/own.tsv"
program fine right '*x = 1;'
program outside finding 'x[1] = 1;'
program endless right 'while (*(volatile int *)x != 7) *x = clock() % 2;'
program broken unbuilt 'no code'
claim 'all verdicts are as expected' cover "$nvcc"
claim 'a right program' grep '^Right: fine\.$' "$scratch/page"
claim 'a finding' grep '^| outside | finding |.*out_of_bounds' "$scratch/page"
claim 'a program that does not end' grep '^| endless | slow |' "$scratch/page"
claim 'a program that nvcc refuses' grep '^| broken | unbuilt |.*error' "$scratch/page"
sed "s/${tab}finding/${tab}right/" "$scratch/own.tsv" >"$scratch/changed" && mv "$scratch/changed" "$scratch/own.tsv"
rm "$scratch/programs/fine/main.cu" # a resumed run must not need it
export RESUME=1
claim 'an unexpected finding fails' sh -c "! (TABLES=$scratch $here/coverage.sh $scratch/build $nvcc $scratch/page own=$scratch/programs 2>$scratch/err)"
claim 'it is marked' grep '^| outside | finding (!) |' "$scratch/page"
claim 'results are kept' grep '^Right: fine\.$' "$scratch/page"
echo "coverage: Tested: $tested | Passing: $good | Failing: $((tested - good)) | Crashing: 0"
[ $good = $tested ]
