#!/bin/sh
# Runs test programs and prints the whole output of failed ones, at the end their names and short reasons, and the line
# "N passed, N failed".
#
#   run-tests.sh BUILD_FOLDER PROGRAM... [-- PROGRAM...]
#
# A program uses Criterion, or prints Criterion's closing line "Tested: N | Passing: N | Failing: N | Crashing: N". Exit
# status 1 if anything failed. Programs before the "--" run TEST_JOBS at a time (default: three, because some tests
# wait), programs after it one by one; the output has the given order.
if [ "$1" = --one ]; then # a process started by this script: PROGRAM LOG
    start=$(date +%s)
    "$2" >"$3" 2>&1
    status=$?
    end=$(date +%s)
    # the second line of `times` has the time of ended child processes: "0m1.500s 0m0.200s"
    { echo $status && echo $((end - start)) && times; } >"$3.part" && mv "$3.part" "$3.status"
    exit 0
fi
build=$1
shift
export CONVLAB_BUILD=$build
# Suppress only the small leaks of Criterion's own process, so that our leaks show. An allocation that is too large
# fails, as without a sanitizer.
export ASAN_OPTIONS=allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=common/mk/lsan.supp:print_suppressions=0
passed=0 failed=0
summary=$build/tests/failed.log

# log_of PROGRAM: prints the path of its log, with folders, because two programs may have the same name.
log_of() { echo "$build/tests/$(echo "${1#"$build"/tests/}" | tr / -).log"; }

# duration STATUS_FILE: prints ": 12 s, CPU 15 s" for an ended program.
duration() {
    [ ! -e "$1" ] || awk 'NR == 2 { s = $1 }
        NR == 4 { split($1 "m" $2, t, "m"); printf ": %d s, CPU %.0f s", s, t[1] * 60 + t[2] + t[3] * 60 + t[4] }' "$1"
}

# count PROGRAM: adds the totals of an ended program.
count() {
    log=$(log_of "$1")
    name=${1##*/}
    printf '== %s%s\n' "$name" "$(duration "$log.status")"
    status=$(head -n 1 "$log.status" 2>/dev/null || echo none)
    totals=$(sed 's/\x1b\[[0-9;]*m//g' "$log" |
        sed -n 's/.*Tested: *\([0-9]*\) *| *Passing: *\([0-9]*\) *|.*/\1 \2/p' | tail -n 1)
    # A program that ends without the closing line has crashed: count one failure.
    tested=${totals%% *} good=${totals##* }
    if [ -z "$totals" ] || { [ "$status" != 0 ] && [ "$tested" = "$good" ]; }; then
        tested=$((${tested:-0} + 1)) good=${good:-0}
        printf '%s: ended with status %s\n' "$name" "$status" >>"$log"
    fi
    # Criterion does not count a sanitizer's findings at the end of a test's process.
    if grep -q -e 'ERROR: LeakSanitizer' -e 'runtime error:' "$log" && [ "$tested" = "$good" ]; then
        tested=$((tested + 1))
    fi
    passed=$((passed + good)) failed=$((failed + tested - good))
    if [ "$tested" != "$good" ]; then
        cat "$log"
        summarize
    fi
}

# summarize: prints the lines in $log about failed tests and their reasons.
summarize() {
    sed 's/\x1b\[[0-9;]*m//g' "$log" |
        grep -E -e '^\[(----|FAIL)\] *[^ ]' -e '^FAILED' -e ': ended with status' -e 'ERROR: LeakSanitizer' \
            -e 'runtime error:' |
        head -n 20 | cut -c 1-300 | sed "s|^\($name: \)*|$name: |" >>"$summary"
}

together= done=$build/tests/queue.done
mkdir -p "$build/tests"
rm -f "$done"
: >"$summary"
for program; do
    shift
    [ "$program" != -- ] || break
    together="$together $program"
    rm -f "$(log_of "$program").status"
done
{
    for program in $together; do
        echo "$program $(log_of "$program")"
    done | xargs -r -P "${TEST_JOBS:-3}" -L 1 "$0" --one
    touch "$done"
} &
for program in $together; do
    status_file=$(log_of "$program").status
    until [ -e "$status_file" ] || [ -e "$done" ]; do sleep 0.2; done
    count "$program"
done
wait
for program; do
    "$0" --one "$program" "$(log_of "$program")"
    count "$program"
done
# prints the failures again, because they may be thousands of lines above
cat "$summary"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
