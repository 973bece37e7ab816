#!/bin/sh
# A whole class, undisturbed and then killed at random moments: the two gradebooks must be the same, no grade
# lost, none twice, none half-stored. Its page is docs/results/class.md (with --page).
#
#   CONVLAB_BUILD=build class-check.sh [--page] [N [KILLS [JOBS]]]      (default: 300 30 2)
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$here/../../.." && pwd)
page=
[ "$1" = --page ] && { page=$top/docs/results/class.md; shift; }
n=${1:-300} kills=${2:-30} jobs=${3:-2}
work=$build/class-check
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
. "$here/class-tools.sh"
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "class-check: $n submissions, $kills kills, $jobs jobs, seed $seed"
"$here/make-class.sh" "$n" in || exit 1

now() { date +%s.%N; }
since() { echo "$(now) $1" | awk '{printf "%.0f", $1 - $2}'; }

class() { # GRADEBOOK
    exec "$build/grader" class in --milestones m1,m2 --gradebook "$1" --quick --images 100 --seed "$seed" \
        --device virtual --jobs "$jobs" $sandbox
}

# sample PID: memory of the class's process, and of it with all that run under it, in KiB, every five seconds.
sample() {
    while kill -0 "$1" 2>/dev/null; do
        ps -eo pid=,ppid=,rss= | awk -v root="$1" -v t="$(since "$began")" '
            {parent[$1] = $2; rss[$1] = $3}
            END {for (p in rss) {q = p; while (q > 1 && q != root) q = parent[q]; if (q == root) all += rss[p]}
                 printf "%d %d %d\n", t, rss[root], all}'
        sleep 5
    done
}

began=$(now)
(class calm.db) >calm.log 2>&1 &
pid=$!
sample $pid >memory.txt &
wait $pid
calm_status=$?
calm_s=$(since "$began")
echo "undisturbed: status $calm_status, $calm_s s"

# Moments are spread over the whole of the work: each run goes on for a random time of at most 1.6 times its share.
share=$(echo "$calm_s $kills" | awk '{printf "%.3f", 1.6 * $1 / ($2 + 1)}')
began=$(now)
killed=0 graders=0
while [ "$killed" -lt "$kills" ]; do
    (class killed.db) >>killed.log 2>&1 &
    pid=$!
    wait_s=$(awk -v s="$seed$killed" -v most="$share" 'BEGIN {srand(s); printf "%.3f", rand() * most}')
    sleep "$(echo "$wait_s" | awk '{print $1 / 2}')"
    one=$(pids_of "$work/killed.db.files" '' | head -n 1) # one of its graders too
    [ -n "$one" ] && kill -9 "$one" 2>/dev/null && graders=$((graders + 1))
    sleep "$(echo "$wait_s" | awk '{print $1 / 2}')"
    kill -9 $pid 2>/dev/null || { echo "the run ended before kill $killed"; break; }
    wait $pid 2>/dev/null
    killed=$((killed + 1))
    none_left "$work/killed.db.files" || exit 1
done
(class killed.db) >>killed.log 2>&1
killed_status=$?
killed_s=$(since "$began")
echo "killed $killed times, and $graders graders beside: status $killed_status, $killed_s s"
same=no
same_gradebooks calm.db killed.db >difference.txt && same=yes
[ $same = yes ] || head -n 40 difference.txt
whole=$(sql killed.db "PRAGMA integrity_check; SELECT count(*) FROM attempt a WHERE a.exit_status >= 0 AND NOT EXISTS
    (SELECT 1 FROM check_result WHERE attempt = a.id)" | tr '\n' ' ')
echo "the same: $same; integrity and grades without checks: $whole"

figures() {
    awk 'NR == 1 {first = $2} {last = $2; if ($2 > most) most = $2; if ($3 > all) all = $3; n++; at[n] = $2}
         END {k = int(n / 4); a = b = 0; for (i = 1; i <= k; i++) if (at[i] > a) a = at[i];
              for (i = n - k + 1; i <= n; i++) if (at[i] > b) b = at[i];
              printf "%.1f %.1f %.0f", a / 1024, b / 1024, all / 1024}' memory.txt
}
if [ -n "$page" ]; then
    set -- $(figures)
    {
        echo '# A class graded, and killed while it was graded'
        echo
        echo "Made by \`make class-check\` on $(date -u +%Y-%m-%d), on $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)) that other work shared; $(
            "$build/grader" --version)."
        echo
        echo "A class of $n submissions of m1 and m2, made by \`grader/class/tests/make-class.sh\`: references, wrong and"
        echo 'hostile submissions from `grader/tests/mutants` and `mutants_cuda`, hostile archives, awkward names;'
        echo "\`--quick --images 100 --device virtual --jobs $jobs\`, seed $seed."
        echo
        echo '| | undisturbed | killed |'
        echo '|---|---|---|'
        echo "| kill -9 of the class's process | 0 | $killed |"
        echo "| kill -9 of one of its graders beside | 0 | $graders |"
        echo "| wall-clock time | $calm_s s | $killed_s s |"
        echo "| processor time of the gradings stored | $(sql calm.db 'SELECT round(sum(cpu_s)) FROM attempt') s | $(sql killed.db 'SELECT round(sum(cpu_s)) FROM attempt') s |"
        echo "| grades stored | $(sql calm.db 'SELECT count(*) FROM grade') | $(sql killed.db 'SELECT count(*) FROM grade') |"
        echo "| attempts stored (a grade computed and stored twice would be one more) | $(sql calm.db 'SELECT count(*) FROM attempt') | $(sql killed.db 'SELECT count(*) FROM attempt') |"
        echo "| faults recorded | $(sql calm.db 'SELECT count(*) FROM fault') | $(sql killed.db 'SELECT count(*) FROM fault') |"
        echo
        echo "The two gradebooks have the same grades, points, seeds, hashes, checks, patterns and messages: **$same**."
        echo "Integrity check of the killed one, and graded attempts without checks: $whole."
        echo
        echo "| status | m1 | m2 |"
        echo "|---|---|---|"
        for status in pass fail skip missing rejected fault; do
            echo "| $status | $(sql calm.db "SELECT count(*) FROM grade WHERE milestone = 'm1' AND status = '$status'") | $(
                sql calm.db "SELECT count(*) FROM grade WHERE milestone = 'm2' AND status = '$status'") |"
        done
        echo
        echo "Processor time of one grading: m1 $(sql calm.db "SELECT printf('%.2f', avg(cpu_s)) FROM attempt WHERE milestone = 'm1' AND exit_status >= 0") s, m2 $(
            sql calm.db "SELECT printf('%.2f', avg(cpu_s)) FROM attempt WHERE milestone = 'm2' AND exit_status >= 0") s on average."
        echo "Memory of the class's process: at most $1 MiB in the first quarter of the undisturbed run, $2 MiB in the last;"
        echo "with all that ran under it at most $3 MiB at a time (sampled every 5 s)."
    } >"$page"
fi
[ $same = yes ] && [ "$calm_status" = 0 ] && [ "$killed_status" = 0 ] && [ "$killed" = "$kills" ] && [ "$whole" = 'ok 0 ' ]
