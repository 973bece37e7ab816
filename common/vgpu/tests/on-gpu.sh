#!/bin/sh
# Runs the virtual GPU's test programs on a real GPU: records their results, compute-sanitizer's findings for the
# planted faults, and Nsight Compute's counters. Needs nvcc, compute-sanitizer and ncu.
#
#   on-gpu.sh OUTPUT_FOLDER
#
# Writes programs.tsv (name status line), sanitizer.tsv (name tool errors first), counters.csv (ncu's raw page after a
# column "program"). fidelity.sh compares them with the virtual GPU.
# PARTS="programs sanitizer counters" (all by default) selects the tables.
parts=${PARTS:-programs sanitizer counters}
wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac }
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
cd "$top" || exit 1 # some programs' flags have paths relative to it
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cores=$(nproc)
cuda=$("$top/common/mk/find-cuda.sh")

build() { # SOURCE
    flags=$(sed -n 's|^// nvcc: ||p' "$1")
    case $flags in *-arch* | *-gencode*) ;; *) flags="-gencode arch=compute_75,code=compute_75 -arch=native $flags" ;; esac
    "$cuda/bin/nvcc" -std=c++17 -lineinfo -cudart shared -I"$top/common" $(echo "$flags" | sed 's/-gencode arch=compute_75,code=compute_75//') \
        "$1" -o "$2/$(basename "$1" .cu)" 2>"$2/$(basename "$1" .cu).log"
}

# Faults that end only because the virtual GPU finds them: on hardware these programs run for ever.
endless() {
    grep -q 'expect: no_progress' "$1"
}

export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64
running=0
for source in "$here"/programs/*.cu $(wanted sanitizer && ls "$here"/faults/*.cu); do
    build "$source" "$work" &
    running=$((running + 1))
    [ $((running % cores)) -eq 0 ] && wait
done
wait

run_programs() {
    printf 'name\tstatus\tline\n' >"$out/programs.tsv"
    for source in "$here"/programs/*.cu; do
        name=$(basename "$source" .cu)
        if [ -x "$work/$name" ]; then
            timeout 60 "$work/$name" >"$work/$name.out" 2>&1
            printf '%s\t%s\t%s\n' "$name" "$?" "$(tail -n 1 "$work/$name.out" | tr '\t' ' ')"
        else
            printf '%s\t-\tnot built: %s\n' "$name" "$(head -n 1 "$work/$name.log" | tr '\t' ' ')"
        fi
    done >>"$out/programs.tsv"
}

# Prints "PROGRAM TOOL errors first", where first has the tool's first messages.
sanitizer_row='
    log=$(timeout 60 compute-sanitizer --tool "$1" "$0" 2>&1)
    status=$?
    errors=$(echo "$log" | sed -n "s/.*ERROR SUMMARY: *\([0-9]*\).*/\1/p; s/.*RACECHECK SUMMARY: *\([0-9]*\) hazard.*/\1/p" | head -n 1)
    first=$(echo "$log" | grep -E "^=========" | sed "s/^=* *//" |
        grep -v -e COMPUTE-SANITIZER -e SUMMARY -e "^\$" -e "Target application" -e "Saved host" | head -n 2 |
        tr "\n\t" "  ")
    [ "$status" -eq 124 ] && first="(did not end in 60 s) $first"
    printf "%s\t%s\t%s\t%s\n" "${0##*/}" "$1" "${errors:-?}" "$first"'

sanitize_faults() {
    for source in "$here"/faults/*.cu; do
        name=$(basename "$source" .cu)
        for tool in memcheck racecheck initcheck synccheck; do
            if endless "$source"; then
                printf '%s\t%s\t-\tnot run: does not end on hardware\n' "$name" "$tool" >>"$work/rows"
            else
                echo "$work/$name $tool"
            fi
        done
    done | xargs -P "$cores" -L 1 sh -c "$sanitizer_row" >>"$work/rows"
    { printf 'name\ttool\terrors\tfirst\n'; sort "$work/rows"; } >"$out/sanitizer.tsv"
}

count() {
    metrics=gpu__time_duration.sum,smsp__inst_executed.sum,smsp__thread_inst_executed.sum
    metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
    metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
    metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
    metrics=$metrics,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
    metrics=$metrics,smsp__sass_branch_targets.sum,smsp__sass_branch_targets_threads_divergent.sum
    metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread
    metrics=$metrics,dram__bytes_read.sum,dram__bytes_write.sum
    : >"$out/counters.csv"
    for name in $(cd "$here/programs" && ls *.cu | sed 's/\.cu$//'); do
        [ -x "$work/$name" ] || continue
        timeout 90 ncu --csv --page raw --print-units base --clock-control none --metrics "$metrics" -c 12 "$work/$name" \
            2>/dev/null | grep '^"' | sed "s/^/\"$name\",/" >>"$out/counters.csv"
    done
}

wanted programs && run_programs
wanted sanitizer && sanitize_faults
wanted counters && count
wc -l "$out"/*
