#!/bin/sh
# Grades right submissions repeatedly: none may fail, whatever else the machine does at the same time.
#
#   CONVLAB_BUILD=build steady.sh [--textbook] [RUNS] [RESULTS.tsv]
#
# Grades the references' libraries like a student's (--lib), one milestone after another, each run with a new random
# seed: every second round with --quick, the other rounds with the comparison of Op Times. --textbook grades the
# solutions in grader/tests/textbook instead, with --quick and one image, for work and technique. The script ends at the
# first false fail, and prints the failure and the command that repeats it. A check that reports "too noisy, run again"
# is counted, but does not fail. The table has a row per run: run, submission, seed, options, status, noisy, seconds,
# load.
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
libraries=reference/m[0-9]* options='--images 20 --quick' other='--images 20'
if [ "$1" = --textbook ]; then
    libraries=textbook/m* options='--images 1 --quick' other=$options
    shift
fi
runs=${1:-200}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
results=${2:-$scratch/results.tsv}

libraries=$(cd "$build" && ls -d $libraries/libconv.so)
[ -n "$libraries" ] || {
    echo "steady: nothing is built in $build (hint: make steady-check, make textbook-check)" >&2
    exit 2
}

printf 'run\tsubmission\tseed\toptions\tstatus\tnoisy\tseconds\tload\n' >"$results"
run=0 noisy=0
while [ "$run" -lt "$runs" ]; do
    for library in $libraries; do
        [ "$run" -lt "$runs" ] || break
        name=$(basename "$(dirname "$library")")
        milestone=${name%%_*}
        run=$((run + 1))
        seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
        device=
        [ "$milestone" = m1 ] || device='--device virtual'
        begin=$(date +%s)
        "$build/grader" "$milestone" --lib "$build/$library" $device $options \
            --seed "$seed" --report "$scratch/report" >"$scratch/out" 2>&1
        status=$?
        again=$(grep -c '^  skip .*too noisy' "$scratch/out")
        [ "$again" = 0 ] || noisy=$((noisy + 1))
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' $run "$name" "$seed" "$options" $status "$again" \
            $(($(date +%s) - begin)) "$(cut -d ' ' -f 1 /proc/loadavg)" >>"$results"
        if grep -q '^  FAIL ' "$scratch/out" || { [ $status != 0 ] && [ "$again" = 0 ]; }; then
            cat "$scratch/out"
            echo "steady: false fail in run $run of $runs, status $status; again with:"
            echo "    $build/grader $milestone --lib $build/$library $device $options --seed $seed"
            exit 1
        fi
    done
    now=$options options=$other other=$now
done
awk -F '\t' -v noisy="$noisy" 'NR > 1 { n++; seconds += $7; most = $8 > most ? $8 : most; least = n == 1 || $8 < least ? $8 : least }
    END { printf "steady: %d gradings, no false fail, %d too noisy to judge speed; %d s, load %s to %s\n",
              n, noisy, seconds, least, most }' "$results"
