# Functions for the tests of grader class; $build is set.

# If bubblewrap does not work here, grade without it.
sandbox=$("$build/grader" sandbox >/dev/null 2>&1 || echo --no-sandbox)

# sql GRADEBOOK STATEMENT: prints rows, with spaces between the columns.
sql() { sqlite3 -separator ' ' "$1" "$2"; }

# The columns that are equal in two runs: all except times, runs and numbers of attempts. (Addresses in messages differ
# between processes.)
same_columns='SELECT g.submission, g.milestone, g.status, g.score, g.max_score, a.seed, a.source_hash, a.options,
    a.exit_status, a.message, c.position, c.name, c.status, c.points, c.pattern
    FROM grade g JOIN attempt a ON a.id = g.attempt LEFT JOIN check_result c ON c.attempt = a.id
    ORDER BY g.submission, g.milestone, c.position'

# same_gradebooks A B: succeeds if both are equal and no grade is stored twice or partly.
same_gradebooks() {
    for book in "$1" "$2"; do
        sql "$book" "$same_columns" | sed 's/0x[0-9a-f]*/0x.../g' >"$book.same"
    done
    [ -s "$1.same" ] && diff "$1.same" "$2.same" &&
        for book in "$1" "$2"; do
            twice=$(sql "$book" 'SELECT submission, milestone, count(*) FROM attempt GROUP BY 1, 2 HAVING count(*) > 1')
            [ -z "$twice" ] || { echo "$book: graded twice: $twice"; return 1; }
        done
}

# pids_of FOLDER [NAME]: prints the graders that write into a gradebook's folder.
pids_of() {
    for cmdline in /proc/[0-9]*/cmdline; do
        { tr '\0' ' ' <"$cmdline"; } 2>/dev/null | grep -qF -- "--json $1/$2" || continue
        pid=${cmdline#/proc/}
        echo "${pid%/cmdline}"
    done
}

# no_sandbox_left FOLDER: succeeds if no sandbox waits for a dead process. (The next run ends the sandboxes of a killed
# run.)
no_sandbox_left() {
    for cmdline in /proc/[0-9]*/cmdline; do
        { tr '\0' ' ' <"$cmdline"; } 2>/dev/null | grep -qF -- "--bind $1/tmp/" || continue
        echo "a sandbox is left: $cmdline"
        return 1
    done
}

# kill_graders FOLDER NAME: kills the graders of one submission.
kill_graders() { for pid in $(pids_of "$1" "$2"); do kill -9 "$pid" 2>/dev/null; done; }

# none_left FOLDER: succeeds if, within a second, no grader of a killed run is left.
none_left() {
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        [ -z "$(pids_of "$1" '')" ] && return 0
        sleep 0.1
    done
    echo "graders are left: $(pids_of "$1" '')"
    return 1
}

# whole_class GRADEBOOK JOBS SEED: grades as class-check does; call it in a subshell, which it replaces by the grader.
whole_class() {
    exec "$build/grader" class in --milestones m1,m2 --gradebook "$1" --quick --images 100 --seed "$3" \
        --device virtual --jobs "$2" $sandbox
}
