#!/bin/sh
# A real Slurm for tests: munged, slurmctld and four slurmd on this machine, in a private folder, with ports
# and keys of their own.
#
#   cluster.sh can                  is everything here that it needs? If not, says why
#   cluster.sh start FOLDER         starts it (four nodes, two cores and one "GPU" each)
#   cluster.sh stop FOLDER          ends it, with all jobs
#   cluster.sh lose FOLDER NODE     what happens when a machine dies: NODE's slurmd and its jobs are gone
#   cluster.sh restore FOLDER NODE  it comes back
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
    port=$((20000 + ($$ * 7) % 30000))
    mkdir -p "$folder/munge" "$folder/state" "$folder/log" "$folder/spool"
    chmod 755 "$folder"
    chmod 711 "$folder/munge" # the socket is reached by all, the key is not
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
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
JobRequeue=1
GresTypes=gpu
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PartitionName=all Nodes=node[1-4] Default=YES MaxTime=INFINITE State=UP
END
    for node in $nodes; do
        port=$((port + 1))
        echo "NodeName=$node NodeHostname=$node NodeAddr=127.0.0.1 Port=$port CPUs=2 RealMemory=1000 Gres=gpu:1 State=UNKNOWN"
        mkdir -p "$folder/spool/$node"
    done >>"$folder/slurm.conf"
    for node in $nodes; do
        echo "NodeName=$node Name=gpu File=/dev/null"
    done >"$folder/gres.conf"
    : >"$folder/cgroup.conf"
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
    until [ "$(sinfo --noheader --Node --states=idle 2>/dev/null | wc -l)" -eq 4 ]; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || { echo 'cluster.sh: the nodes do not come up' >&2; tail -n 5 "$folder"/log/* >&2; exit 1; }
        sleep 0.2
    done
}

# Slurm's supervisors of the jobs on a node: the parents of what has the node's name in its environment.
steps_of() { # NODE
    for process in /proc/[0-9]*; do
        grep -qzxF "SLURMD_NODENAME=$1" "$process/environ" 2>/dev/null || continue
        grep -qzxF "SLURM_CONF=$folder/slurm.conf" "$process/environ" 2>/dev/null || continue
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status" 2>/dev/null)
        [ "$(cat "/proc/$parent/comm" 2>/dev/null)" != slurmstepd ] || echo "$parent"
    done | sort -u
}

# The process before its children, so that it cannot tell anybody.
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
}

case $what in
can) can ;;
start) start ;;
stop) stop ;;
lose) lose "$3" ;;
restore) start_node "$3" ;;
*) echo "cluster.sh: expected can, start, stop, lose or restore" >&2; exit 2 ;;
esac
