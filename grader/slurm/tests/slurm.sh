#!/bin/sh
# Tests grader class --slurm on a real Slurm: four nodes on this machine (cluster.sh).
#
#   CONVLAB_BUILD=build slurm.sh [all]
#
# Without "all", for make test: nine submissions, a requeued task, a cancelled task, a killed collector. With "all", for
# make slurm-check: 64 submissions, a node that dies, preempted tasks, limits on time and memory, GPUs, and tasks that
# have a node for themselves.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$here/../../.." && pwd)
unset MAKEFLAGS MFLAGS MAKELEVEL SLURM_CONF
. "$top/common/mk/tests/claims.sh"
why=$("$here/cluster.sh" can) || claims_skip "grading on a cluster: $why"
export TMPDIR="$scratch" # the folder of locks
chmod 755 "$scratch"
trap '"$here/cluster.sh" stop "$scratch/cluster"; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
cd "$scratch" || exit 1
. "$top/grader/class/tests/class-tools.sh"

# ---- a class: a third right, a third wrong, a third that does not compile; some are slow ------------------------
hand_in() { # NUMBER SECONDS
    folder=in/$(printf 's%03d' "$1")/m1-cpu-conv
    mkdir -p "$folder"
    case $(($1 % 3)) in
    0) cp "$top/reference/m1-cpu-conv/conv.c" "$folder/conv.c" ;;
    1) grep -v plain.h "$top/grader/tests/mutants/weights_flipped.c" >"$folder/conv.c"
       cat "$top/grader/tests/mutants/plain.h" >>"$folder/conv.c" ;;
    2) echo "#error $1" >"$folder/conv.c" ;;
    esac
    [ "$2" -eq 0 ] || printf '#include <time.h>\n__attribute__((constructor)) static void wait_a_little(void)\n{ nanosleep(&(struct timespec){.tv_sec = %d}, NULL); }\n' "$2" >>"$folder/conv.c"
}

if [ "${1:-}" = all ]; then n=64 slow=8; else n=9 slow=2; fi
i=0
while [ $i -lt $n ]; do
    i=$((i + 1))
    case $((i % 3)) in 2) seconds=0 ;; *) seconds=$((i <= 2 * slow ? 1 : 0)) ;; esac
    hand_in $i $seconds
done
mkdir in/s000 # hands in nothing

how="--milestones m1 --quick --images 1 --seed 7 $sandbox"
grade() { # GRADEBOOK [OPTION...]
    book=$1
    shift
    # shellcheck disable=SC2086
    "$build/grader" class in $how --gradebook "$book" "$@" >"said-$book" 2>&1
}
on_cluster() { # GRADEBOOK [OPTION...]
    book=$1
    shift
    grade "$book" --slurm "$@" || { cat "said-$book"; return 1; }
}

faults() { sql "$1" "SELECT count(*) FROM fault WHERE kind = '$2'"; }

# wait_until COMMAND...: waits at most 60 seconds
wait_until() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo "never: $*"; return 1; }
        sleep 0.2
    done
}
running() { squeue --noheader --array --states=running --format '%F_%K' | grep -q .; }
first_running() { squeue --noheader --array --states=running --format '%F_%K' | head -n 1; }
gone() { ! squeue --noheader --array --states=running,completing --format '%F_%K' | grep -qx "$1"; }
# interrupt COMMAND...: applies the command, with a task's name appended, to a running task. Fails if the task has ended
# by then: its outcome exists or is already stored.
interrupt() {
    interrupted=$(first_running)
    [ -n "$interrupted" ] && "$@" "$interrupted" && wait_until gone "$interrupted" || return 1
    listed=$(awk -v row="${interrupted#*_}" 'NR == row + 1 {print $1, $2}' disturbed.db.files/slurm/batch-1.tsv)
    [ -n "$listed" ] && [ ! -e "disturbed.db.files/slurm/${listed% *}.outcome" ] &&
        [ "$(sql disturbed.db "SELECT count(*) FROM attempt WHERE submission = '${listed#* }'")" = 0 ]
}
graded_some() { [ "$(grep -c '^\[' "said-$1")" -gt 1 ]; }

# ---- claims ----------------------------------------------------------------------------------------------------
without_slurm() {
    mkdir bin && ln -s "$(command -v bwrap)" bin/
    if PATH=$scratch/bin grade none.db --slurm; then return 1; fi
    grep -q '^grader class: .*hint: is Slurm installed here' said-none.db || { cat said-none.db; return 1; }
    [ "$(sql none.db 'SELECT count(*) FROM grade WHERE status <> "missing"')" -eq 0 ]
}

as_one_machine() {
    on_cluster cluster.db --gpus 1 --slurm-options '--cpus-per-task=1' || return 1
    same_gradebooks cluster.db one.db
}

all_nodes_were_used() {
    nodes=$(squeue --noheader --array --states=all --format '%N' | sort -u | grep -c node)
    [ "$nodes" -eq 4 ] || { echo "$nodes nodes"; return 1; }
    squeue --noheader --array --states=all --format '%b' | sort -u | grep -qx 'gres:gpu:1'
}

nothing_is_left() { [ ! -e cluster.db.files/slurm ] || { ls cluster.db.files/slurm; return 1; }; }
again_is_nothing() { on_cluster cluster.db --gpus 1 && grep -q '^0 graded.*were up to date' said-cluster.db; }

# Tasks are requeued and cancelled, and the collector is killed; the next collector resumes. With "all", a node also
# dies.
disturbed() {
    # shellcheck disable=SC2086
    "$build/grader" class in $how --gradebook disturbed.db --slurm --array-limit 4 >said-disturbed.db 2>&1 &
    collector=$!
    wait_until running || return 1
    wait_until interrupt scontrol requeue && wait_until interrupt scancel && wait_until graded_some disturbed.db || return 1
    [ "$1" != all ] || { wait_until running && "$here/cluster.sh" lose "$scratch/cluster" node3; }
    sleep 1
    kill -KILL $collector
    wait $collector 2>/dev/null
    on_cluster disturbed.db || return 1
    [ "$1" != all ] || "$here/cluster.sh" restore "$scratch/cluster" node3
    grep -q '^Tasks of an earlier run: ' said-disturbed.db || { echo 'nothing of an earlier run'; cat said-disturbed.db; return 1; }
    same_gradebooks disturbed.db one.db
}
faults_are_told_apart() {
    for kind in requeued cancelled; do
        [ "$(faults disturbed.db $kind)" -ge 1 ] || { echo "no $kind:"; sql disturbed.db 'SELECT kind, message FROM fault'; return 1; }
    done
    [ "$(sql disturbed.db "SELECT count(*) FROM grade WHERE status = 'fault'")" -eq 0 ]
}

# Slurm starts a task that has already ended: nothing is graded.
a_task_that_ended_does_nothing() {
    mkdir -p late.db.files/slurm
    printf 'key\tsubmission\tmilestone\tattempt\tseed\tsource\nk\ts003\tm1\t1\t7\t/nowhere\n' >late.db.files/slurm/batch-1.tsv
    echo done >late.db.files/slurm/k.outcome
    "$build/grader" class --task 1 --list late.db.files/slurm/batch-1.tsv >late || return 1
    grep -q 'already graded' late && [ ! -e late.db.files/slurm/k.starts ] || return 1
    ! "$build/grader" class --task 2 --list late.db.files/slurm/batch-1.tsv 2>late
    grep -q 'no such task' late
}

# Without images, the task has a fault, is repeated, and is finally reported as a fault.
not_the_students() {
    CONVLAB_DATA=$PWD/none on_cluster fault.db --only s003,s001 --retries 1
    [ "$(sql fault.db "SELECT count(*) FROM grade WHERE status = 'fault' AND score IS NULL")" -eq 2 ] &&
        [ "$(faults fault.db not_graded)" -eq 4 ] ||
        { cat said-fault.db; sql fault.db 'SELECT * FROM grade'; sql fault.db 'SELECT * FROM fault'; return 1; }
}

# ---- claims of the whole suite ------------------------------------------------------------------------------------
# another NAME [#define...]: makes a submission of jumpy.inc in the class more/.
another() {
    mkdir -p "more/$1/m1-cpu-conv"
    { echo "${2:-}"; cat "$top/grader/class/tests/jumpy.inc"; } >"more/$1/m1-cpu-conv/conv.c"
}
grade_more() { # NAME GRADEBOOK OPTION...
    name=$1 book=$2
    shift 2
    # shellcheck disable=SC2086
    "$build/grader" class more --milestones m1 --only "$name" --gradebook "$book" --seed 7 --slurm $sandbox "$@" >"said-$book" 2>&1
}
is_fault() { # GRADEBOOK KIND: there is one fault of this kind, caused by Slurm, and no score
    [ "$(sql "$1" 'SELECT status, score IS NULL FROM grade')" = 'fault 1' ] && [ "$(faults "$1" "$2")" -eq 1 ] ||
        { cat "said-$1"; sql "$1" 'SELECT * FROM grade'; sql "$1" 'SELECT kind, message FROM fault'; return 1; }
}
states_seen() { squeue --noheader --array --states=all --format '%T' | sort | uniq -c; }

# Tasks in a preemptible partition: an urgent job takes all nodes while some of the tasks run.
give_way() { # GRADEBOOK PARTITION KIND
    # shellcheck disable=SC2086
    "$build/grader" class in $how --gradebook "$1" --slurm --partition "$2" >"said-$1" 2>&1 &
    collector=$!
    wait_until running || return 1
    sleep 1
    sbatch --partition=urgent --nodes=4 --exclusive --output=/dev/null --wrap='sleep 2' || return 1
    wait $collector || { cat "said-$1"; return 1; }
    [ "$(faults "$1" "$3")" -ge 1 ] || { echo "no $3"; sql "$1" 'SELECT kind, message FROM fault'; states_seen; return 1; }
    same_gradebooks "$1" one.db
}
more_than_its_memory() {
    another large '#define TAKES_MIB 700'
    grade_more large memory.db --quick --images 1 --retries 0 --slurm-options --mem=400
    is_fault memory.db out_of_memory && squeue --noheader --array --states=out_of_memory --format '%K' | grep -q . || return 1
    grade_more large memory.db --quick --images 1 --slurm-options --mem=2000 && [ "$(sql memory.db 'SELECT status FROM grade')" = pass ]
}
longer_than_its_time() { # (the class's limit is later than Slurm's)
    another lasts '#define PAUSE_MS 5000'
    grade_more lasts time.db --quick --images 1 --retries 0 --slurm-options --time=1
    is_fault time.db timeout && grep -q 'took longer than Slurm allows' said-time.db &&
        squeue --noheader --array --states=timeout --format '%K' | grep -q .
}
noisy_has_a_node() { # m1's noise is only marked; here a different mark requests a grading with nothing beside it
    another noisy
    grade_more noisy noisy.db --images 4 || { cat said-noisy.db; return 1; }
    [ "$(sql noisy.db 'SELECT status, tries, alone, noisy FROM attempt')" = 'pass 1 0 1' ] || { cat said-noisy.db; return 1; }
    sql noisy.db "SELECT source_hash || ' ' || seed || ' ' || options FROM attempt" >noisy.db.files/noisy/m1/2.noisy
    grade_more noisy noisy.db --images 4 --regrade && [ "$(sql noisy.db 'SELECT tries, alone FROM attempt WHERE id = 2')" = '2 1' ] ||
        { cat said-noisy.db; return 1; }
    found=$(squeue --noheader --array --states=all --sort=i --format '%C %h %j' | tail -n 2 | cut -d ' ' -f 1,2 | tr '\n' ' ')
    [ "$found" = '1 OK 2 NO ' ] || { echo "cores of the two tasks, and whether they share: $found"; return 1; }
}
# Slurm gives each task a GPU, and the task's grader sees this GPU by its UUID (nvidia-smi and make are fakes).
a_gpu_each() {
    mkdir -p fake
    printf '#!/bin/sh\nfor i in 0 1; do echo "GPU $i: A (UUID: GPU-$SLURMD_NODENAME-$i)"; done\n' >fake/nvidia-smi
    printf '#!/bin/sh\necho "$SLURMD_NODENAME $SLURM_JOB_GPUS $CUDA_VISIBLE_DEVICES $CONVLAB_TIMING_LOCK" >>%s/given\nexec %s "$@"\n' \
        "$scratch" "$(command -v make)" >fake/make
    chmod +x fake/*
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        mkdir -p "gpus/s$i/m2-gpu-baseline" && echo '#error' >"gpus/s$i/m2-gpu-baseline/conv.cu"
    done
    # shellcheck disable=SC2086
    PATH=$scratch/fake:$PATH "$build/grader" class gpus --milestones m2 --gradebook gpus.db --seed 7 --device gpu --slurm \
        --gpus 1 $sandbox >said-gpus.db 2>&1 || { cat said-gpus.db; return 1; }
    [ "$(sql gpus.db "SELECT count(*) FROM grade WHERE status = 'fail' AND score = 0")" -eq 12 ] &&
        awk '$3 != "GPU-" $1 "-" $2 || $4 !~ "-" $3 "[.]lock$" {exit 1} {seen[$2]++} END {exit !(seen[0] && seen[1])}' given ||
        { cat given said-gpus.db; return 1; }
}

claim 'without Slurm, one line reports it' without_slurm
grade one.db
"$here/cluster.sh" start "$scratch/cluster" || exit 1
export SLURM_CONF="$scratch/cluster/slurm.conf"
claim "$n submissions over four nodes: the gradebook of one machine" as_one_machine
claim 'all nodes were used, with a GPU each' all_nodes_were_used
claim 'nothing is left beside the gradebook' nothing_is_left
claim 'again: all is up to date' again_is_nothing
claim 'requeued, cancelled, killed: the same gradebook' disturbed "${1:-}"
claim 'faults of the cluster are reported, and not charged to students' faults_are_told_apart
claim 'a task that ended does nothing when it is started again' a_task_that_ended_does_nothing
claim 'a submission that could not be graded is a fault' not_the_students
if [ "${1:-}" = all ]; then
    claim 'preempted and queued again by Slurm: the same gradebook' give_way idle.db idle requeued
    claim 'preempted and ended: submitted again, the same gradebook' give_way cheap.db cheap preempted
    claim 'longer than the time that Slurm gives: a fault' longer_than_its_time
    claim 'noisy times are measured again on a separate node' noisy_has_a_node
    if why=$("$here/cluster.sh" limits "$scratch/cluster"); then
        claim 'more than the memory that Slurm gives: a fault, and a grade where there is enough' more_than_its_memory
    else
        echo "skipped: more memory than Slurm gives: $why"
    fi
    if [ -x "$("$top/common/mk/find-cuda.sh")/bin/nvcc" ]; then
        claim 'each task has a GPU of its own, and its grader sees no other' a_gpu_each
    else
        echo 'skipped: GPUs of tasks: no nvcc'
    fi
fi
claims_end
