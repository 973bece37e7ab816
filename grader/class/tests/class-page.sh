#!/bin/sh
# Compares the two gradebooks that class-check.sh has made; --page also writes docs/results/class.md.
#
#   class-page.sh [--page] FOLDER KILLS      (FOLDER/notes.txt, if it exists, becomes the end of the page)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
page=
[ "$1" = --page ] && { page=$top/docs/results/class.md; shift; }
cd "$1" || exit 1
build=$(cd .. && pwd)
. "$here/class-tools.sh"
read -r _ jobs seed <asked.txt
read -r killed graders <kills.txt

same=no
same_gradebooks calm.db killed.db >difference.txt && same=yes
[ $same = yes ] || head -n 40 difference.txt
whole=$(sql killed.db "PRAGMA integrity_check; SELECT count(*) FROM attempt a WHERE a.exit_status >= 0 AND NOT EXISTS
    (SELECT 1 FROM check_result WHERE attempt = a.id)" | tr '\n' ' ')
echo "killed $killed times, and $graders graders beside; the same: $same; integrity, and grades without checks: $whole"

# Prints the largest memory sample in the first and in the last quarter, and the largest with all processes, in MiB.
memory() {
    awk '{at[NR] = $(NF - 1); if ($NF > all) all = $NF}
         END {k = int(NR / 4); for (i = 1; i <= k; i++) {
                  if (at[i] > a) a = at[i]
                  if (at[NR + 1 - i] > b) b = at[NR + 1 - i]}
              printf "%.1f %.1f %.0f", a / 1024, b / 1024, all / 1024}' memory.txt
}
both() { echo "$(sql calm.db "$1")$2 | $(sql killed.db "$1")$2"; }
of() { sql calm.db "SELECT $1 FROM attempt WHERE milestone = '$2' AND exit_status >= 0"; }

write_page() {
    set -- $(memory)
    cat <<END
# A class graded, and killed while it was graded

Made by \`make class-check PAGE=1\` on $(date -u +%Y-%m-%d), on $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)) that
other work shared, in the sandbox, without a GPU.

A class of $(sql calm.db 'SELECT count(*) FROM submission') submissions of m1 and m2, made by \`grader/class/tests/make-class.sh\`: references, wrong and hostile
submissions from \`grader/tests/mutants\` and \`mutants_cuda\`, hostile archives, awkward names; graded with
\`--quick --images 100 --device virtual --jobs $jobs\`, seed $seed.

| | undisturbed | killed |
|---|---|---|
| kill -9 of the class's process | 0 | $killed |
| kill -9 of one of its graders | 0 | $graders |
| wall-clock time, from the first start to the last end | $(both 'SELECT max(finished) - min(started) FROM run' ' s') |
| processor time of the gradings that were stored | $(both 'SELECT round(sum(cpu_s)) FROM attempt' ' s') |
| grades stored | $(both 'SELECT count(*) FROM grade') |
| attempts stored (more than grades if a grade were stored twice) | $(both 'SELECT count(*) FROM attempt') |
| faults recorded and tried again | $(both 'SELECT count(*) FROM fault') |

The two gradebooks have the same grades, points, seeds, hashes, checks, patterns and messages: **$same**. The killed
one's result of SQLite's integrity check, and its number of graded attempts without checks: $whole.

| status | m1 | m2 |
|---|---|---|
END
    for status in pass fail skip missing rejected fault; do
        echo "| $status | $(sql calm.db "SELECT count(*) FROM grade WHERE milestone = 'm1' AND status = '$status'") | $(
            sql calm.db "SELECT count(*) FROM grade WHERE milestone = 'm2' AND status = '$status'") |"
    done
    cat <<END

Processor time of one grading, on average: m1 $(of "printf('%.2f', avg(cpu_s))" m1) s, m2 $(of "printf('%.2f', avg(cpu_s))" m2) s; the largest process of a grading: $(
        sql calm.db 'SELECT max(max_rss_kib) / 1024 FROM attempt') MiB.
Memory of the class's own process: at most $1 MiB in the first quarter of the undisturbed run and $2 MiB in the
last; with all its child processes at most $3 MiB at a time (sampled every 5 s).
END
    [ ! -e notes.txt ] || { echo; cat notes.txt; }
}
[ -z "$page" ] || { write_page >"$page.tmp" && mv "$page.tmp" "$page"; }
no_sandbox_left "$PWD/killed.db.files" || exit 1
[ $same = yes ] && [ "$killed" = "$2" ] && [ "$whole" = 'ok 0 ' ]
