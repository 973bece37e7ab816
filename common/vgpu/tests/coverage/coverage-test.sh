#!/bin/sh
# Tests coverage.sh with a small collection: each verdict, an unexpected one, and a resumed run.
#
#   CONVLAB_BUILD=build coverage-test.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
nvcc=$("$here/../../../mk/find-cuda.sh")/bin/nvcc
. "$here/../../../mk/tests/claims.sh"
claims_show="$scratch/page $scratch/err"
tab=$(printf '\t')

program() { # NAME VERDICT CODE [EDITS]: one thread of a kernel runs the code
    mkdir -p "$scratch/programs/$1"
    printf '#include <cstdio>\n__global__ void f(int *x) {\n%s\n}\nint main() { int *x; cudaMalloc(&x, 4); f<<<1, 1>>>(x);\n' \
        "$3" >"$scratch/programs/$1/main.cu"
    printf 'printf("%%s\\n", cudaDeviceSynchronize() ? "FAIL" : "PASS"); return 0; }\n' >>"$scratch/programs/$1/main.cu"
    printf '%s\t-arch=compute_75\t-\t%s\t%s\n' "$1" "$2" "${4:-}" >>"$scratch/own.tsv"
}

cover() { TABLES=$scratch LIMIT=5 "$here/coverage.sh" "$scratch/build" "$1" "$scratch/page" own="$scratch/programs" 2>"$scratch/err"; }

mkdir -p "$scratch/build"
ln -s "$build/vgpu-run" "$scratch/build/vgpu-run"
printf 'folder\tflags\targuments\tverdict\tedits\n' >"$scratch/own.tsv"
program fine right '*x = 1;'
program outside finding 'x[1] = 1;'
program endless right 'while (*(volatile int *)x != 7) *x = clock() % 2;'
program broken unbuilt 'no code'
program reduced right 'for (int i = 0; i < 1 << 30; i++) x[1 << 20] = i;' 'main.cu:s/1 << 30/1 << 1/ ;; main.cu:s/1 << 20/0/'
program other unbuilt '*x = 1;' 'main.cu:s/x = 1/x = 2/ ;; main.cu:s/x = 7/x = 8/'
# The edited header has no object file: make must not use those in the copy, which are stale.
program made right '#include "size.h"' 'size.h:s/1 << 20/0/'
sed -i "/^made/s/-arch=compute_75/make/" "$scratch/own.tsv"
echo 'x[1 << 20] = 1;' >"$scratch/programs/made/size.h"
printf 'program = main\nmain: main.o\n\t$(CC) $< -o $@\nmain.o: main.cu\n\t$(CC) -arch=compute_75 -c $< -o $@\n' \
    >"$scratch/programs/made/Makefile"
touch "$scratch/programs/made/main.o" "$scratch/programs/made/main"
# Only the first of two main programs is built.
program chosen right '*x = 1;'
cp "$scratch/programs/chosen/main.cu" "$scratch/programs/chosen/other.cu"
sed -i "/^chosen/s/-arch=compute_75/main.cu &/" "$scratch/own.tsv"
printf 'import sys\nopen(sys.argv[1] + "/chosen/input", "w")\n' >"$scratch/own-data.py"
claim 'all verdicts are as expected' cover "$nvcc"
claim 'two right programs, and two that are right as edited' grep '^Right: chosen, fine, made, reduced\.$' "$scratch/page"
claim 'the inputs are made' test -e "$scratch/programs/chosen/input"
claim 'a finding' grep '^| outside | finding |.*out_of_bounds' "$scratch/page"
claim 'a program that does not end' grep '^| endless | slow |' "$scratch/page"
claim 'a program that nvcc refuses' grep '^| broken | unbuilt |.*error' "$scratch/page"
claim 'an edit that matches nothing' grep '^| other | unbuilt |.*the edit `s/x = 7/x = 8/` of main.cu matches nothing' "$scratch/page"
claim 'the page says which programs are edited' grep '^With smaller constants: made, other, reduced\.$' "$scratch/page"
claim 'and how many' grep 'unmodified, except that 3 have smaller constants' "$scratch/page"
claim 'the checkout keeps no edited copy' test ! -e "$scratch/programs/reduced.reduced"
claim 'the program itself is not edited' grep '1 << 30' "$scratch/programs/reduced/main.cu"
sed "s/${tab}finding/${tab}right/" "$scratch/own.tsv" >"$scratch/changed" && mv "$scratch/changed" "$scratch/own.tsv"
rm "$scratch/programs/fine/main.cu" # a resumed run must not need it
export RESUME=1
claim 'an unexpected finding fails' sh -c "! (TABLES=$scratch $here/coverage.sh $scratch/build $nvcc $scratch/page own=$scratch/programs 2>$scratch/err)"
claim 'it is marked' grep '^| outside | finding (!) |' "$scratch/page"
claim 'results are kept' grep '^Right: chosen, fine, made, reduced\.$' "$scratch/page"
claims_end
