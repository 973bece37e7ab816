#!/bin/sh
# Checks vprof on this machine's GPU against ncu and against programs that are not profiled. Writes tables.
#
#   profile-check.sh BUILD_FOLDER CUDA_HOME OUTPUT_FOLDER
#
# OUTPUT_FOLDER/<gpu>/ gets
#   profiler-machine.tsv   the machine
#   profiler-samples.tsv   programs in the style of the CUDA samples: what vprof recorded
#   profiler-kernels.tsv   each kernel of the references, run alone: median time by vprof and by ncu
#   profiler-spins.tsv     these times for kernels that only wait
#   profiler-overhead.tsv  Op Times of the references' layers, measured alternately without vprof, with vprof in
#                          unrecorded runs (our programs detach CUPTI for them), and in recorded runs
#   profiler-programs.tsv  these times for programs that print Op Times: the runner, and cuDNN's baseline
#   profiler-sandbox.tsv   the contents of a profile recorded in the sandbox
#   profiler-sums.tsv      whether the figures of a run add up
#   profiler-launches.tsv  100000 launches: how many were recorded, and the time of each
#   profiler-metrics.tsv   metrics by vprof, each beside ncu's
# IMAGES="1000 10000" (the overhead also at 100) and ROUNDS=5 (of the overhead) set the amount of work. Exit status: 0
# all steps passed, 1 a step failed, 2 could not run.
set -u
export LC_ALL=C
build=$1 cuda=$2 out=$3
PATH=$PATH:$cuda/bin
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64
export PATH LD_LIBRARY_PATH
images=${IMAGES:-1000 10000} rounds=${ROUNDS:-5} parts=${PARTS:-samples kernels overhead programs sandbox launches metrics}
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')

say() { printf '%s  profile-check: %s\n' "$(date +%H:%M:%S)" "$*"; }
failed() {
    say "FAILED: $*"
    failures=$((failures + 1))
}
wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac }

[ -e /dev/nvidiactl ] || {
    echo 'profile-check: skipped: no NVIDIA GPU'
    exit 0
}
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
to=$out/$(echo "$name" | sed 's/^NVIDIA //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
mkdir -p "$to" || exit 2
# m13 needs host memory, which conv_times does not provide
milestones=$(cd "$build/reference" && ls -d m[2-9] m[1-9][0-9] 2>/dev/null | grep -vx m13)
libraries=$(for m in $milestones; do echo "$build/reference/$m/libconv.so"; done)
{
    printf 'what\tvalue\n'
    printf 'gpu\t%s\n' "$name"
    printf 'driver\t%s\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
    printf 'ncu\t%s\n' "$(ncu --version 2>/dev/null | sed -n 's/^Version //p' | cut -d' ' -f1)"
    printf 'date\t%s\n' "$(date -u '+%Y-%m-%d %H:%M UTC')"
} >"$to/profiler-machine.tsv"

# Medians by the first column: KEY<tab>VALUE... on stdin, KEY<tab>COUNT<tab>MEDIAN on stdout.
medians() {
    sort -t "$tab" -k1,1 -k2,2g | awk -F '\t' '
        function flush() {if (n) print key "\t" n "\t" (n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2)}
        $1 != key {flush(); key = $1; n = 0} {v[++n] = $2} END {flush()}'
}

# Kernels' times as vprof prints them from a kept trace: "NAME GRID"<tab>ns. The clocks were still low during the first
# launches, which does not affect medians.
kernel_times() {
    "$build/vprof" --csv --print-gpu-trace --demangling off -i "$1" --log-file "$work/times"
    awk -F , '{gsub(/"/, "")} $1 == "Start" {for (i = 1; i <= NF; i++) at[$i] = i; units = NR + 1; next}
        NR == units {ns = $at["Duration"] == "s" ? 1e9 : $at["Duration"] == "ms" ? 1e6 : $at["Duration"] == "us" ? 1e3 : 1; next}
        units && $at["Grid X"] != "" {
            print $at["Name"] " " $at["Grid X"] "x" $at["Grid Y"] "x" $at["Grid Z"] "\t" ns * $at["Duration"]}' "$work/times" | medians
}

# Values from ncu's output: "NAME GRID"<tab>the value of a metric. The row below the header has units.
ncu_values() { # METRIC
    awk -F '","' -v metric="$1" '/^"/ {
        gsub(/^"|"$/, "")
        if (!rows++) {for (i = 1; i <= NF; i++) at[$i] = i; next}
        if (rows == 2) next
        grid = $at["Grid Size"]; gsub(/[() ]/, "", grid); gsub(/,/, "x", grid)
        value = $at[metric]; gsub(/,/, "", value)
        print $at["Kernel Name"] " " grid "\t" value}'
}

# Checks the figures of one trace: the shares of the GPU's activities add up, and the activities of one stream take no
# longer than from the first start to the last end.
sums() { # PROGRAM TRACE
    "$build/vprof" --csv --print-gpu-summary -i "$2" --log-file "$work/summary"
    shares=$(awk -F , '/^"GPU/ {sum += $2} END {printf "%.4f", sum}' "$work/summary")
    awk -F '\t' -v m="$1" -v shares="$shares" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
        $at["kind"] ~ /kernel|copy|memset/ {start = $at["start_ns"] + 0; end = $at["end_ns"] + 0; sum += end - start; n++
            if (n == 1 || start < first) first = start; if (end > last) last = end}
        $at["kind"] == "api" {calls++}
        END {printf "%s\t%d\t%d\t%s\t%.0f\t%.0f\t%s\n", m, n, calls, shares, sum, last - first,
            (shares > 99.99 && shares < 100.01 && sum <= last - first) ? "ok" : "failed"}' "$2"
}

# Makes a table of kernels by name: launches, times by vprof and by ncu. Further ncu runs, repeated or with other
# metrics, show how well ncu agrees with itself.
compare() { # PREFIX FILE...: vprof, ncu, further ones
    prefix=$1
    cut -f1-3 "$work/$2" >"$work/joined"
    shift 2
    for file in "$@"; do
        cut -f1,3 "$work/$file" | join -t "$tab" "$work/joined" - >"$work/joining"
        mv "$work/joining" "$work/joined"
    done
    awk -F '\t' -v prefix="$prefix" '{printf "%s%s\t%d", prefix, $1, $2; for (i = 3; i <= NF; i++) printf "\t%.0f", $i
        printf "\t%.2f\t%.2f\n", 100 * ($3 - $4) / $4, 100 * ($5 - $4) / $4}' "$work/joined" | sort -t "$tab" -k4,4gr
}

ncu_times() { # TO OPTIONS... PROGRAM...
    kept=$1
    shift
    LD_PRELOAD=$preload ncu --csv --page raw --print-units base --print-kernel-base mangled --clock-control none --cache-control none \
        --log-file "$work/csv" "$@" >/dev/null 2>&1
    ncu_values gpu__time_duration.sum <"$work/csv" | medians >"$work/$kept"
    [ -s "$work/$kept" ] || failed "ncu: $(head -n 3 "$work/csv")"
}

# Runs all references in one program; their kernels have distinct names. Each kernel runs alone, as under ncu, so data
# that earlier kernels left in the L2 cache has no effect.
kernels() {
    command -v ncu >/dev/null || {
        say 'kernels: skipped: ncu is not installed'
        return
    }
    printf 'images\tkernel\tlaunches\tvprof_ns\tncu_ns\tncu_again_ns\tdifference_percent\tncu_itself_percent\n' >"$to/profiler-kernels.tsv"
    printf 'program\tactivities\tcalls\tsum_of_shares\tsum_of_times_ns\tspan_ns\tstatus\n' >"$to/profiler-sums.tsv"
    alone=$(realpath "$build/tests/alone.so")
    for n in 100 $images; do
        say "kernels, $n images"
        # shellcheck disable=SC2086
        "$build/vprof" -f -o "$work/trace" --log-file "$work/log" "$build/tests/conv_times" --recorded "$n" $libraries \
            >"$work/out" 2>&1 || failed "kernels: $(head -n 3 "$work/out" "$work/log")"
        sums "all references, $n images" "$work/trace" >>"$to/profiler-sums.tsv"
        # shellcheck disable=SC2086
        LD_PRELOAD=$alone "$build/vprof" -f -o "$work/trace" --log-file "$work/log" "$build/tests/conv_times" --recorded "$n" \
            $libraries >"$work/out" 2>&1 || failed "kernels: $(head -n 3 "$work/out" "$work/log")"
        kernel_times "$work/trace" >"$work/ours"
        preload=$alone
        for file in theirs again; do
            # shellcheck disable=SC2086
            ncu_times $file --metrics gpu__time_duration.sum "$build/tests/conv_times" "$n" $libraries
        done
        compare "$n$tab" ours theirs again >>"$to/profiler-kernels.tsv"
    done
    grep -q "${tab}failed$" "$to/profiler-sums.tsv" && failed "sums: $(grep "${tab}failed$" "$to/profiler-sums.tsv")"
    spins
}

# Kernels that only wait: times differ only by where the tools mark a kernel's start and end.
spins() {
    say 'kernels that wait'
    preload=
    "$build/vprof" -f -o "$work/trace" --log-file "$work/log" "$build/tests/spins" 50 >"$work/out" 2>&1 || failed "spins: $(head -n 3 "$work/out" "$work/log")"
    kernel_times "$work/trace" >"$work/ours"
    ncu_times basic --set basic "$build/tests/spins" 5
    ncu_times only --metrics gpu__time_duration.sum "$build/tests/spins" 5
    ncu_times full --set full "$build/tests/spins" 3
    printf 'kernel\tlaunches\tvprof_ns\tncu_ns\tncu_time_only_ns\tncu_full_ns\tdifference_percent\tncu_itself_percent\n' >"$to/profiler-spins.tsv"
    compare '' ours basic only full >>"$to/profiler-spins.tsv"
}

# A row per layer of each reference: medians over the rounds, as conv_times itself measured them.
overhead() {
    : >"$work/plain"
    : >"$work/profiled"
    : >"$work/recorded"
    for round in $(seq "$rounds"); do
        say "overhead, round $round of $rounds"
        for list in 100 100 100 100 "$(echo "$images" | tr ' ' ,)"; do
            overhead_round "$list"
        done
        overhead_table plain profiled recorded >"$to/profiler-overhead.tsv"
    done
}

# Short times vary more than long ones, so they get more rounds.
overhead_round() { # IMAGES
    # shellcheck disable=SC2086
    {
        "$build/tests/conv_times" "$1" $libraries | layers_of >>"$work/plain"
        "$build/vprof" --log-file "$work/log" "$build/tests/conv_times" "$1" $libraries | layers_of >>"$work/profiled"
        "$build/vprof" --log-file "$work/log" "$build/tests/conv_times" --recorded "$1" $libraries | layers_of >>"$work/recorded"
    }
}

layers_of() { awk -F '\t' 'NR > 1 {print $1 ", " $2 " images, " $3 "\t" $4}'; }

# A table of medians: name, rounds, ns without a profiler; then ns with it and the difference in percent, for each
# further file.
overhead_table() { # FILE FILE...
    plain=$1
    medians <"$work/$plain" >"$work/table"
    printf 'what\trounds\t%s_ns' "$plain"
    shift
    for file in "$@"; do
        printf '\t%s_ns\t%s_percent' "$file" "$file"
        medians <"$work/$file" | cut -f1,3 >"$work/column"
        join -t "$tab" "$work/table" "$work/column" |
            awk -F '\t' '{printf "%s\t%.2f\n", $0, 100 * ($NF - $3) / $3}' >"$work/joined"
        mv "$work/joined" "$work/table"
    done
    echo
    awk -F '\t' '{printf "%s\t%d", $1, $2; for (i = 3; i <= NF; i++) printf(i == 5 || i == 7 ? "\t%s" : "\t%.0f", $i); print ""}' "$work/table"
}

# Op Times that the programs print, which reports of the course quote.
programs() {
    : >"$work/plain"
    : >"$work/profiled"
    for round in $(seq "$rounds"); do
        say "programs, round $round of $rounds"
        for n in 100 100 1000; do
            for m in $milestones; do
                one_program "$m" "$n" "$build/runner" --on gpu --lib "$build/reference/$m/libconv.so"
            done
            one_program cuDNN "$n" "$build/library-baseline" --on gpu
        done
        overhead_table plain profiled >"$to/profiler-programs.tsv"
    done
    [ "$(wc -l <"$to/profiler-programs.tsv")" -gt 10 ] || failed "programs: $(head -n 3 "$work/out" "$work/log")"
}

# one_program NAME IMAGES PROGRAM ARGUMENT...: runs the program without and with vprof.
one_program() {
    name=$1 n=$2
    shift 2
    "$@" --model two-layer --images "$n" 2>"$work/out" | op_times "$name" "$n" >>"$work/plain"
    "$build/vprof" --log-file "$work/log" "$@" --model two-layer --images "$n" 2>"$work/out" | op_times "$name" "$n" >>"$work/profiled"
}

op_times() { awk -v name="$1" -v images="$2" '/^Op Time:/ {printf "%s, %d images, two-layer.%d\t%.0f\n", name, images, ++n, $3 * 1e9}'; }

launches() {
    printf 'run\tlaunched\tkernels\tcalls\twarnings\tplain_ns\tprofiled_ns\n' >"$to/profiler-launches.tsv"
    for run in 1 2 3; do
        plain=$("$build/profiler/samples/launches" 100000 | cut -d' ' -f1)
        profiled=$("$build/vprof" -f -o "$work/trace" --log-file "$work/log" "$build/profiler/samples/launches" 100000 | cut -d' ' -f1)
        awk -F '\t' -v run="$run" -v plain="$plain" -v profiled="$profiled" '
            $1 == "kernel" {k++} $1 == "api" && $2 ~ /^cudaLaunchKernel/ {c++} $1 == "lost" || $1 == "note" {w++}
            END {printf "%d\t100000\t%d\t%d\t%d\t%s\t%s\n", run, k, c, w, plain, profiled; exit k != 100000 || c != 100000}' \
            "$work/trace" >>"$to/profiler-launches.tsv" || failed "launches: $(tail -n 1 "$to/profiler-launches.tsv")"
    done
}

# Metrics of m3's and m5's kernels by vprof, and the corresponding ratios of ncu; means over a kernel's launches.
metrics() {
    pairs='gld_efficiency=smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct
        gst_efficiency=smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct
        shared_efficiency=smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct
        achieved_occupancy=sm__warps_active.avg.pct_of_peak_sustained_active
        branch_efficiency=smsp__sass_average_branch_targets_threads_uniform.pct
        gld_transactions_per_request=l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
        ipc=sm__inst_executed.avg.per_cycle_active
        sm_efficiency=sm__cycles_active.avg.pct_of_peak_sustained_elapsed
        inst_executed=smsp__inst_executed.sum
        issue_slot_utilization=smsp__issue_active.avg.pct_of_peak_sustained_active
        dram_read_bytes=dram__bytes_read.sum
        global_hit_rate=l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct
        l2_tex_hit_rate=lts__t_sector_hit_rate.pct'
    ours=$(for p in $pairs; do printf '%s,' "${p%=*}"; done | sed 's/,$//')
    theirs=$(for p in $pairs; do printf '%s,' "${p#*=}"; done | sed 's/,$//')
    printf 'milestone\tmetric\tkernel\tvprof\tncu\tncu_name\n' >"$to/profiler-metrics.tsv"
    for m in m3 m5; do
        say "metrics of $m"
        "$build/vprof" --csv --demangling off --metrics "$ours" --log-file "$work/log" "$build/tests/conv_times" --once 100 \
            "$build/reference/$m/libconv.so" >"$work/out" 2>&1 || failed "metrics: $(cat "$work/out" "$work/log")"
        ncu --csv --page raw --print-units base --print-kernel-base mangled --clock-control none --metrics "$theirs" \
            --log-file "$work/csv" "$build/tests/conv_times" --once 100 "$build/reference/$m/libconv.so" >/dev/null 2>&1
        for p in $pairs; do
            ncu_values "${p#*=}" <"$work/csv" | sed 's/ [^ ]*\t/\t/' |
                awk -F '\t' '{sum[$1] += $2; n[$1]++} END {for (k in sum) print k "\t" sum[k] / n[k]}' | sort >"$work/theirs"
            # "Device","Kernel",Invocations,"Name","Description",Min,Max,Avg: kernel names without parameters have no
            # commas
            awk -F , -v metric="${p%=*}" '$4 == "\"" metric "\"" {gsub(/"/, "", $2); sub(/%$/, "", $NF); print $2 "\t" $NF}' "$work/log" |
                sort >"$work/ours"
            join -t "$tab" "$work/ours" "$work/theirs" | awk -F '\t' -v m="$m" -v metric="${p%=*}" -v theirs="${p#*=}" '
                {print m "\t" metric "\t" $1 "\t" $2 "\t" $3 "\t" theirs}' >>"$to/profiler-metrics.tsv"
        done
    done
    [ "$(wc -l <"$to/profiler-metrics.tsv")" -gt 10 ] || failed "metrics: $(head -n 5 "$work/log")"
}

# Checks the profile that the grader makes of a lab in the sandbox.
sandbox() {
    printf 'images\tdevice\tpart\tstate\treason\n' >"$to/profiler-sandbox.tsv"
    "$build/grader" sandbox >"$work/out" 2>&1 || {
        say "sandbox: skipped: $(head -n 1 "$work/out")"
        return
    }
    "$build/grader" m3 --reference --device gpu --quick --images 100,1000 --profile --require-sandbox --seed 1 \
        --report "$work/report" >"$work/out" 2>&1 || failed "sandbox: $(tail -n 3 "$work/out")"
    cp "$work/report/profile/parts.tsv" "$to/profiler-sandbox.tsv" || failed 'sandbox: no profile'
    awk -F '\t' '$3 ~ /trace|time|counters/ && $4 != "here" {bad = 1} END {exit bad || NR < 9}' "$to/profiler-sandbox.tsv" ||
        failed "sandbox: $(cat "$to/profiler-sandbox.tsv")"
}

wanted samples && { common/vprof/tests/samples.sh "$build" gpu "$to/profiler-samples.tsv" || failed 'samples'; }
wanted launches && launches
wanted metrics && metrics
wanted kernels && kernels
wanted overhead && overhead
wanted programs && programs
wanted sandbox && sandbox
say "tables in $to"
[ $failures -eq 0 ] || {
    say "$failures failed"
    exit 1
}
say 'all passed'
