#!/bin/sh
# Runs every test program given and ends with one line: N passed, N failed.
#
#   run-tests.sh BUILD_FOLDER PROGRAM...
#
# A program is one of Criterion's, or any that prints its closing line
# "Tested: N | Passing: N | Failing: N | Crashing: N". Exit status 1 if anything failed.
build=$1
shift
export CONVLAB_BUILD=$build
# Criterion's own process leaks a little; what our code leaks must not be hidden behind that.
export LSAN_OPTIONS=suppressions=common/mk/lsan.supp:print_suppressions=0
passed=0 failed=0
for program; do
    name=${program##*/}
    printf '== %s\n' "$name"
    log=$build/tests/$name.log
    "$program" >"$log" 2>&1
    status=$?
    totals=$(sed 's/\x1b\[[0-9;]*m//g' "$log" |
        sed -n 's/.*Tested: *\([0-9]*\) *| *Passing: *\([0-9]*\) *|.*/\1 \2/p' | tail -n 1)
    # A program that ends without its closing line has crashed: count it as one failure.
    tested=${totals%% *} good=${totals##* }
    if [ -z "$totals" ] || { [ "$status" -ne 0 ] && [ "$tested" = "$good" ]; }; then
        tested=$((${tested:-0} + 1)) good=${good:-0}
        printf '%s: ended with status %s\n' "$name" "$status" >>"$log"
    fi
    # Criterion does not count what a sanitizer finds when a test's process ends.
    if grep -q -e 'ERROR: LeakSanitizer' -e 'runtime error:' "$log" && [ "$tested" = "$good" ]; then
        tested=$((tested + 1))
    fi
    passed=$((passed + good)) failed=$((failed + tested - good))
    [ "$tested" = "$good" ] || cat "$log"
done
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
