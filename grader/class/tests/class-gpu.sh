#!/bin/sh
# Grades a small class on real GPUs three times: undisturbed; on one GPU, killed and resumed; and with another program
# on the GPU, whose noise must be noticed. The test has three steps, because the GPU machine lacks sqlite3:
#
#   class-gpu.sh make FOLDER           the class, in FOLDER/in (from a checkout)
#   class-gpu.sh run FOLDER BUILD      grades it (on a machine with GPUs, from an archive made by make bundle)
#   class-gpu.sh page FOLDER BUILD     judges the gradebooks, and writes docs/results/h200/class.md
#
# DEVICE=virtual runs the second step without a GPU: then no GPU is chosen, and times have no noise.
set -u
step=$1 folder=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
[ "$step" = make ] || build=$(cd "$3" && pwd)

# ---- the class -------------------------------------------------------------------------------------------------
put() { # NAME MILESTONE SOURCE
    to=$folder/in/$1/$2
    mkdir -p "$to"
    awk -v FOLDERS="$top/grader/tests/cheats $top/grader/tests/mutants $top/grader/tests/mutants_cuda $top/common" \
        -f "$top/grader/tests/cheats/one_file.awk" "$top/$3" >"$to/conv.${3##*.}"
}

make_class() {
    mutants=grader/tests/mutants_cuda cheats=grader/tests/cheats
    mkdir -p "$folder/in"
    for milestone in m1-cpu-conv m2-gpu-baseline m3-shared-memory m6-fused; do
        for source in "$top/reference/$milestone"/conv.c*; do
            put right $milestone "reference/$milestone/${source##*/}"
        done
    done
    put wrong m1-cpu-conv grader/tests/mutants/weights_flipped.c
    put wrong m2-gpu-baseline $mutants/last_row_missing.cu
    put wrong m3-shared-memory $mutants/weights_flipped.cu
    put wrong m6-fused $mutants/only_image_0.cu
    put slow m1-cpu-conv grader/tests/mutants/plain.h && mv "$folder/in/slow/m1-cpu-conv/conv.h" "$folder/in/slow/m1-cpu-conv/conv.c"
    put slow m2-gpu-baseline $mutants/right_uncoalesced.cu
    put slow m3-shared-memory $mutants/right_uncoalesced.cu
    put out-of-bounds m2-gpu-baseline $mutants/no_bounds_check.cu
    put endless m2-gpu-baseline $mutants/waits_forever.cu
    put hostile m2-gpu-baseline $cheats/keeps_on_device.cu
    put hostile m3-shared-memory $mutants/kills_parents_group.cu
    put hostile m6-fused $cheats/resets_device.cu
    put does-not-compile m2-gpu-baseline $cheats/template_bomb.cu
    echo '#error' >>"$folder/in/does-not-compile/m2-gpu-baseline/conv.cu"
    put plain-right m2-gpu-baseline $mutants/right.cu
    put plain-right m6-fused reference/m3-shared-memory/conv.cu
    mkdir -p "$folder/in/nothing"
    cp "$here/busy.cu" "$folder/"
}

# ---- grading ---------------------------------------------------------------------------------------------------
device=${DEVICE:-gpu}
whole() { # GRADEBOOK JOBS [OPTION...]
    book=$1 jobs=$2
    shift 2
    exec "$build/grader" class in --gradebook "$book" --seed 7 --device "$device" --images "${IMAGES:-100,1000}" --jobs "$jobs" --cpu-times "$@"
}
say() { echo "$(date +%T) $*"; }

run_class() {
    cd "$folder" || exit 2
    rm -rf calm.db* killed.db* noisy-* ./*.txt
    all="--milestones ${MILESTONES:-m1,m2,m3,m6}"
    (nproc && nvidia-smi -L) >machine.txt 2>&1
    say 'undisturbed'
    # shellcheck disable=SC2086
    (whole calm.db 4 $all) >calm.txt 2>&1 || say "exit status $?"
    say 'killed after five grades, on one GPU'
    # shellcheck disable=SC2086
    (CUDA_VISIBLE_DEVICES=0 whole killed.db 4 $all) >killed.txt 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(grep -c '^\[.*: [pfs][a-z]* [0-9]' killed.txt)" -lt 5 ]; do sleep 0.2; done
    kill -9 $pid 2>/dev/null && echo 'killed here' >>killed.txt
    wait $pid 2>/dev/null
    say 'the same command again'
    # shellcheck disable=SC2086
    (CUDA_VISIBLE_DEVICES=0 whole killed.db 4 $all) >>killed.txt 2>&1 || say "exit status $?"
    [ "$device" != gpu ] || noise
    say 'done'
}

# Another program computes intermittently on the same GPU: first until noise is reported, then until the end.
noise() {
    "$("$top/common/mk/find-cuda.sh")/bin/nvcc" -O2 -arch=native -o busy busy.cu || return
    for until in told end; do
        say "beside another program, until the $until"
        CUDA_VISIBLE_DEVICES=0 ./busy &
        busy=$!
        sleep 1
        kill -0 $busy || return
        (CUDA_VISIBLE_DEVICES=0 whole noisy-$until.db 1 --milestones m2 --only slow) >noisy-$until.txt 2>&1 &
        pid=$!
        while kill -0 $pid 2>/dev/null; do
            [ $until = told ] && grep -q 'noisy times: will be graded again' noisy-$until.txt && kill $busy 2>/dev/null
            sleep 0.1
        done
        kill $busy 2>/dev/null
        wait $pid $busy 2>/dev/null
    done
}

# ---- the results -----------------------------------------------------------------------------------------------
failures=0
judge() { # TEXT FOUND WANTED: a line of the page
    if [ "$2" = "$3" ]; then verdict=yes; else verdict="**no**, $2" failures=$((failures + 1)); fi
    echo "- $1: $verdict"
}
# Counts the pairs of gradings that had the turn at the same time, in the same place (=) or in different places (<>).
overlaps() { # GRADEBOOK = | <>
    sql "$1" "SELECT count(*) FROM attempt a JOIN attempt b ON a.id < b.id AND a.timed_on $2 b.timed_on
        AND a.timed_from < b.timed_until AND b.timed_from < a.timed_until"
}
beside() { # GRADEBOOK: the gradings that ran while another was timed
    sql "$1" 'SELECT count(DISTINCT b.id) FROM attempt a JOIN attempt b ON a.id <> b.id
        AND a.timed_from < b.finished AND b.started < a.timed_until'
}
noise_of() { sql "$1" 'SELECT tries, alone, noisy FROM attempt'; }
gpus_of() { sql "$1" "SELECT count(DISTINCT timed_on) FROM attempt WHERE device = 'gpu' AND timed_on <> ''"; }

write_page() {
    sed -n 's/^GPU \([0-9]*\):.*(UUID: \(GPU-[^)]*\))/s!\2!GPU \1!/p' machine.txt >gpus.sed
    gpus=$(grep -c '^GPU' machine.txt)
    cat <<END
# A class graded on real GPUs

<!-- written by grader/class/tests/class-gpu.sh page -->

$(sql calm.db "SELECT count(*) FROM submission") submissions of m1, m2, m3 and m6 (right, wrong, slow, out of bounds, endless, hostile, one
that does not compile, an empty one), graded in the sandbox with \`--device gpu --images 100,1000 --jobs 4 --seed 7\` on
$gpus $(sed -n 's/^GPU 0: \(.*\) (UUID.*/\1/p' machine.txt) with $(head -n 1 machine.txt) cores, $(date -u -d "@$(sql calm.db 'SELECT min(started) FROM run')" +%Y-%m-%d). The second run saw one GPU
(\`CUDA_VISIBLE_DEVICES=0\`) and its process was killed after five grades; the same command then resumed it.

| | undisturbed, $gpus GPUs | one GPU, killed |
|---|---|---|
END
    for line in "seconds from the first start to the last end|SELECT max(finished) - min(started) FROM run" \
        "grades|SELECT count(*) FROM grade" "pass|SELECT count(*) FROM grade WHERE status = 'pass'" \
        "fail|SELECT count(*) FROM grade WHERE status = 'fail'" "skip|SELECT count(*) FROM grade WHERE status = 'skip'" \
        "missing|SELECT count(*) FROM grade WHERE status = 'missing'" \
        "attempts|SELECT count(*) FROM attempt" "faults of ours|SELECT count(*) FROM fault" \
        "repeated because of noise|SELECT count(*) FROM attempt WHERE alone" \
        "noisy again after that|SELECT count(*) FROM attempt WHERE noisy" \
        "average time of a turn to measure, seconds, GPU|SELECT printf('%.1f', avg(timed_until - timed_from)) FROM attempt WHERE device = 'gpu' AND timed_from > 0" \
        "the same, CPU|SELECT printf('%.1f', avg(timed_until - timed_from)) FROM attempt WHERE device = 'cpu' AND timed_from > 0"; do
        echo "| ${line%%|*} | $(sql calm.db "${line#*|}") | $(sql killed.db "${line#*|}") |"
    done
    echo
    judge 'the two gradebooks have the same grades, points, seeds, checks, patterns and messages (apart from times)' "$same" yes
    judge 'no two gradings used the same GPU, or the reserved cores, at the same time' \
        "$(overlaps calm.db =) $(overlaps killed.db =)" '0 0'
    judge "gradings that built or waited while another one measured: $(beside calm.db) of $(sql calm.db 'SELECT count(*) FROM attempt WHERE started > 0')" \
        "$([ "$(beside calm.db)" -gt 4 ] && echo some)" some
    judge "GPUs on which gradings were timed: $(gpus_of calm.db), and $(gpus_of killed.db) when one was visible" \
        "$(gpus_of calm.db) $(gpus_of killed.db)" "$gpus 1"
    [ "$gpus" -lt 2 ] || judge "pairs of gradings that measured in different places at the same time: $(overlaps calm.db '<>')" \
        "$([ "$(overlaps calm.db '<>')" -gt 0 ] && echo some)" some
    cores=$(sql calm.db "SELECT DISTINCT timed_on FROM attempt WHERE device = 'cpu' AND timed_on <> ''")
    judge "the CPU's times were measured on $cores, which builds did not use" "$(sed -n 's/^Measuring CPU times on \(.*\), which.*/\1/p' calm.txt)" "$cores"
    judge 'beside a program that uses the same GPU now and then and ends at the first report of noise: graded again, then quiet (tries, alone, noisy)' \
        "$(noise_of noisy-told.db)" '2 1 0'
    judge 'beside such a program that does not end: graded again, and marked as noisy' \
        "$(noise_of noisy-end.db)" '2 1 1'
    cat <<END

All Op Times of the second layer of the slow m2 at 1000 images, in ms:

    quiet             $(op_times calm.db)
    beside the other  $(op_times noisy-end.db)

## Turns

The undisturbed run, in seconds from its start: the start of each grading, its turn to measure times, and its end.

| submission | milestone | status | started | turn from | until | ended | on |
|---|---|---|---:|---:|---:|---:|---|
END
    sql calm.db "SELECT '| ' || submission || ' | ' || milestone || ' | ' || status || ' | ' || printf('%.1f', started - zero) ||
        ' | ' || iif(timed_from, printf('%.1f', timed_from - zero), '') || ' | ' || iif(timed_from, printf('%.1f', timed_until - zero), '') ||
        ' | ' || printf('%.1f', finished - zero) || ' | ' || timed_on || ' |'
        FROM attempt, (SELECT min(started) AS zero FROM attempt WHERE started > 0) WHERE started > 0
        ORDER BY coalesce(timed_from, started)" | sed -f gpus.sed
}
op_times() {
    sql "$1" "SELECT t.op_times_s FROM timing t JOIN attempt a ON a.id = t.attempt WHERE a.submission = 'slow'
        AND a.milestone = 'm2' AND t.subject = 'submission' AND t.layer = 2 AND t.images = 1000" |
        tr ' ' '\n' | awk '{printf "%s%.3f", (NR > 1 ? " " : ""), 1e3 * $1}'
}

# (the text of a speed check contains times)
judge_books() {
    . "$here/class-tools.sh"
    cd "$folder" || exit 2
    same_columns=$(echo "$same_columns" | sed 's/a.message, //')
    same=no
    same_gradebooks calm.db killed.db >difference.txt && same=yes
    cat difference.txt
    page=${PAGE:-$top/docs/results/h200/class.md}
    write_page >"$page.tmp" && mv "$page.tmp" "$page"
    grep '^- ' "$page"
    grep -q '\*\*no\*\*' "$page" && exit 1
    exit 0
}

case $step in
make) make_class ;;
run) run_class ;;
page) judge_books ;;
esac
