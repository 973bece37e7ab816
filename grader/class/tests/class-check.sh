#!/bin/sh
# Grades a whole class, first undisturbed and then killed at random moments: the two gradebooks must be equal, with no
# grade lost, stored twice or half-stored. --page writes docs/results/class.md.
#
#   CONVLAB_BUILD=build class-check.sh [--page] [N [KILLS [JOBS]]]      (default: 300 30 2)
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
export CONVLAB_BUILD="$build" # (the class runs in another folder)
page=
[ "$1" = --page ] && { page=--page; shift; }
n=${1:-300} kills=${2:-30} jobs=${3:-2}
work=$build/class-check
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
. "$here/class-tools.sh"
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "class-check: $n submissions, $kills kills, $jobs jobs, seed $seed"
"$here/make-class.sh" "$n" in || exit 1
echo "$n $jobs $seed" >asked.txt

# sample PID: every five seconds, writes the memory of the class's process in KiB, alone and with all its descendants.
sample() {
    while kill -0 "$1" 2>/dev/null; do
        ps -eo pid=,ppid=,rss= | awk -v root="$1" '
            {parent[$1] = $2; rss[$1] = $3}
            END {for (p in rss) {q = p; while (q > 1 && q != root) q = parent[q]; if (q == root) all += rss[p]}
                 printf "%d %d\n", rss[root], all}'
        sleep 5
    done
}

(whole_class calm.db "$jobs" "$seed") >calm.log 2>&1 &
pid=$!
sample $pid >memory.txt &
wait $pid || { tail -n 20 calm.log; exit 1; }
seconds=$(sql calm.db 'SELECT max(finished) - min(started) FROM run')
echo "undisturbed: $seconds s"
"$here/class-killed.sh" "$seconds" "$kills" "$jobs" "$seed" || { tail -n 20 killed.log; exit 1; }
"$here/class-page.sh" $page "$work" "$kills"
