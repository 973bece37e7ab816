#!/bin/sh
# Grades the class in in/ into killed.db, kills it at random moments, and finally lets it finish.
#
#   class-killed.sh SECONDS KILLS JOBS SEED      in class-check's folder; SECONDS: its duration when undisturbed
#
# The kills are spread over the whole work: each run lasts a random time of at most 1.6 times its share. Halfway, one
# grader is killed, which the run counts as a fault of the machine. kills.txt has the number of killed runs and graders.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-../..}" && pwd)
. "$here/class-tools.sh"
share=$(echo "$1 $2" | awk '{printf "%.3f", 1.6 * $1 / ($2 + 1)}')
kills=$2 jobs=$3 seed=$4
killed=0 graders=0
while [ "$killed" -lt "$kills" ]; do
    (whole_class killed.db "$jobs" "$seed") >>killed.log 2>&1 &
    pid=$!
    wait_s=$(awk -v s="$seed$killed" -v most="$share" 'BEGIN {srand(s); printf "%.3f", rand() * most / 2}')
    sleep "$wait_s"
    one=$(pids_of "$PWD/killed.db.files" '' | head -n 1)
    [ -n "$one" ] && kill -9 "$one" 2>/dev/null && graders=$((graders + 1))
    sleep "$wait_s"
    kill -9 $pid 2>/dev/null || { echo "the run ended before kill $killed"; break; }
    wait $pid 2>/dev/null
    killed=$((killed + 1))
    echo "$killed $graders" >kills.txt
    none_left "$PWD/killed.db.files" || exit 1
done
(whole_class killed.db "$jobs" "$seed") >>killed.log 2>&1
