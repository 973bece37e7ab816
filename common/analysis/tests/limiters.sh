#!/bin/sh
# Checks that kernels with a single limiter get this limiter, that similar kernels do not, and that the references'
# limiters are the reviewed ones in references.tsv.
#
#   limiters.sh [BUILD_FOLDER]     (default: CONVLAB_BUILD)
#   CONVLAB_ACCEPT=1 limiters.sh   writes the results into references.tsv: review the difference
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-${CONVLAB_BUILD:-build}}
. "$here/../../mk/tests/claims.sh"

# verdicts FILE: prints "kernel grid limiter" for each kernel of an analysis.
verdicts() {
    awk -f "$here/verdicts.awk" "$here/../limiters.def" "$1" | cut -f 1-3
}

"$build/vprof" --device virtual --analysis --log-file "$scratch/log" "$build/tests/limiters" >"$scratch/out" 2>&1 ||
    cat "$scratch/out"
verdicts "$scratch/log" >"$scratch/found"
while IFS='	' read -r kernel grid found; do
    asked=${kernel#*_}
    case $kernel in
    is_*) claim "$kernel is limited by $found" [ "$found" = "$asked" ] ;;
    not_*) claim "$kernel is limited by $found" [ "$found" != "$asked" ] ;;
    esac
done <"$scratch/found"
# The line to report: the read of shared memory, or the head of the unrolled loop.
line=$(grep -n 'sum += s\[' "$here/limiters.cu" | cut -d: -f1)
grep -A2 is_bank_conflicts "$scratch/log" >"$scratch/conflicts"
claim 'the line with the bank conflicts is named' grep -e "limiters.cu:$line: " -e "limiters.cu:$((line - 1)): " "$scratch/conflicts"
# Each limiter has a kernel, except limiters whose unit these kernels do not use.
awk -F'[(,] *' '/^LIMITER/ {print $3}' "$here/../limiters.def" | grep -v -x -e unknown -e fp16 -e tensor |
    while read -r limiter; do
        grep -q "^is_$limiter	" "$scratch/found" || echo "$limiter"
    done >"$scratch/missing"
claim 'each limiter has a kernel' diff "$scratch/missing" /dev/null

for library in "$build"/reference/m[2-9]/libconv.so; do
    milestone=$(basename "$(dirname "$library")")
    "$build/vprof" --device virtual --analysis --log-file "$scratch/log" "$build/runner" --on virtual --lib "$library" \
        --images 40 >"$scratch/out" 2>&1 || cat "$scratch/out" "$scratch/log"
    verdicts "$scratch/log" | sed "s/^/$milestone	/"
done >"$scratch/references"
if [ "${CONVLAB_ACCEPT:-}" ]; then
    { printf 'milestone\tkernel\tgrid\tlimiter\n' && cat "$scratch/references"; } >"$here/references.tsv"
fi
tail -n +2 "$here/references.tsv" >"$scratch/reviewed"
claim 'the limiters of the references are the reviewed ones (CONVLAB_ACCEPT=1 accepts new ones)' \
    diff "$scratch/reviewed" "$scratch/references"
claims_end
