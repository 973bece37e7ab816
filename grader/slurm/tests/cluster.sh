#!/bin/sh
# A real Slurm for tests: munged, slurmctld and four slurmd on this machine, in a private folder, with separate ports
# and keys.
#
#   cluster.sh can                  succeeds if the machine has all that Slurm needs; otherwise prints the reason
#   cluster.sh start FOLDER         starts Slurm (four nodes, with two cores and two "GPUs" each)
#   cluster.sh limits FOLDER        succeeds if Slurm ends jobs that use more memory than they requested; else
#                                 prints the reason
#   cluster.sh stop FOLDER          ends Slurm and all jobs
#   cluster.sh lose FOLDER NODE     simulates a machine that dies: kills NODE's slurmd and its jobs
#   cluster.sh restore FOLDER NODE  brings the machine back
#
# Afterwards: export SLURM_CONF=FOLDER/slurm.conf.
set -eu
what=$1 folder=${2:-}
nodes='node1 node2 node3 node4'

can() {
    for program in slurmctld slurmd munged sbatch squeue; do
        command -v $program >/dev/null 2>&1 || {
            echo "no $program here (hint: apt-get install slurm-wlm munge)"
            return 1
        }
    done
    [ "$(id -u)" -eq 0 ] || { echo 'slurmd starts jobs only as root'; return 1; }
    # Several slurmd on one machine need a build that allows it; Debian's does.
    [ -d /proc/1 ]
}

configure() {
    port=$((20000 + ($$ * 7) % 12000)) # less than the port numbers that the kernel assigns
    mkdir -p "$folder/munge" "$folder/state" "$folder/log" "$folder/spool"
    chmod 755 "$folder"
    chmod 711 "$folder/munge" # all users may use the socket, but not read the key
    (umask 077 && head -c 64 /dev/urandom >"$folder/munge/key")
    cat >"$folder/slurm.conf" <<END
ClusterName=convlab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=$(memory_is_limited >/dev/null && echo task/cgroup || echo task/none)
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=2000
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
JobRequeue=1
GresTypes=gpu
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=DEFAULT Nodes=node[1-4] MaxTime=INFINITE State=UP
PartitionName=all Default=YES PriorityTier=5 PreemptMode=OFF
PartitionName=idle PriorityTier=1 PreemptMode=REQUEUE
PartitionName=cheap PriorityTier=1 PreemptMode=CANCEL
PartitionName=urgent PriorityTier=9 PreemptMode=OFF
END
    for node in $nodes; do
        port=$((port + 1))
        echo "NodeName=$node NodeHostname=$node NodeAddr=127.0.0.1 Port=$port CPUs=2 RealMemory=4000 Gres=gpu:2 State=UNKNOWN"
        mkdir -p "$folder/spool/$node"
    done >>"$folder/slurm.conf"
    # Slurm takes a GPU's number from the name of its file.
    mkdir "$folder/dev"
    mknod "$folder/dev/nvidia0" c 1 3 && mknod "$folder/dev/nvidia1" c 1 3
    for node in $nodes; do
        echo "NodeName=$node Name=gpu File=$folder/dev/nvidia[0-1]"
    done >"$folder/gres.conf"
    configure_memory
}

# ---- memory: in control groups (version 1) inside our own, so that no process leaves it ------------------------
own_group() { echo "/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)"; }
memory_is_limited() {
    group=$(own_group)
    [ -e "$group/memory.limit_in_bytes" ] || { echo 'no control groups of version 1 for memory'; return 1; }
    mkdir "$group/convlab-$$" 2>/dev/null && rmdir "$group/convlab-$$" && return
    echo "control groups cannot be made in $group"
    return 1
}
configure_memory() {
    : >"$folder/cgroup.conf"
    memory_is_limited >/dev/null || return 0
    mkdir -p "$folder/cgroup/memory"
    mount --bind "$(own_group)" "$folder/cgroup/memory"
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nAllowedSwapSpace=0\n' \
        "$folder/cgroup" >"$folder/cgroup.conf"
}
remove_groups() {
    [ -e "$folder/cgroup/memory/tasks" ] || return 0
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        find "$folder/cgroup/memory" -mindepth 1 -depth -type d -path "$folder/cgroup/memory/slurm*" -exec rmdir {} + 2>/dev/null && break
        sleep 0.2
    done
    umount "$folder/cgroup/memory"
}

start_node() { # NODE
    slurmd -D -f "$folder/slurm.conf" -N "$1" >"$folder/log/$1.out" 2>&1 &
    echo $! >"$folder/$1.process"
}

start() {
    configure
    export SLURM_CONF="$folder/slurm.conf"
    munged --foreground --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
        --log-file="$folder/log/munged" --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
        --num-threads=4 >"$folder/log/munged.out" 2>&1 &
    echo $! >"$folder/munged.process"
    until [ -S "$folder/munge/socket" ]; do sleep 0.1; done
    slurmctld -D -f "$folder/slurm.conf" >"$folder/log/slurmctld.out" 2>&1 &
    echo $! >"$folder/slurmctld.process"
    for node in $nodes; do start_node "$node"; done
    tries=0
    until [ "$(sinfo --noheader --Node --partition=all --states=idle 2>/dev/null | wc -l)" -eq 4 ]; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || { echo 'cluster.sh: the nodes do not come up' >&2; tail -n 5 "$folder"/log/* >&2; exit 1; }
        sleep 0.2
    done
}

# Slurm's supervisors of the jobs on a node: the parents of processes that have the node's name in their environment.
steps_of() { # NODE
    for process in /proc/[0-9]*; do
        grep -qzxF "SLURMD_NODENAME=$1" "$process/environ" 2>/dev/null || continue
        grep -qzxF "SLURM_CONF=$folder/slurm.conf" "$process/environ" 2>/dev/null || continue
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status" 2>/dev/null)
        [ "$(cat "/proc/$parent/comm" 2>/dev/null)" != slurmstepd ] || echo "$parent"
    done | sort -u
}

# Stops the process before its children, so that it cannot report that they have ended.
stop_tree() { # PROCESS
    children=$(pgrep -P "$1" || true)
    kill -KILL "$1" 2>/dev/null || true
    for child in $children; do stop_tree "$child"; done
}

lose() { # NODE
    kill -KILL "$(cat "$folder/$1.process")" 2>/dev/null || true
    for step in $(steps_of "$1"); do stop_tree "$step"; done
}

stop() {
    export SLURM_CONF="$folder/slurm.conf"
    [ ! -e "$folder/slurmctld.process" ] || timeout 10 scancel --user="$(id -un)" 2>/dev/null || true
    for node in $nodes; do
        [ ! -e "$folder/$node.process" ] || lose "$node"
    done
    for name in slurmctld munged; do
        [ -e "$folder/$name.process" ] || continue
        process=$(cat "$folder/$name.process")
        for child in $(pgrep -P "$process" || true); do kill -KILL "$child" 2>/dev/null || true; done
        kill -KILL "$process" 2>/dev/null || true
    done
    remove_groups
}

case $what in
can) can ;;
start) start ;;
limits) memory_is_limited ;;
stop) stop ;;
lose) lose "$3" ;;
restore) start_node "$3" ;;
*) echo "cluster.sh: expected can, start, limits, stop, lose or restore" >&2; exit 2 ;;
esac
