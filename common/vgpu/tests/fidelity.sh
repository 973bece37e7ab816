#!/bin/sh
# Compares the virtual GPU's results with those that on-gpu.sh collected on a real GPU.
#
#   fidelity.sh BUILD_FOLDER GPU_FOLDER OUTPUT_FOLDER
#
# Writes into OUTPUT_FOLDER
#     vgpu-programs.tsv  name gpu virtual same           the programs' verdicts and checksums
#     vgpu-faults.tsv    name virtual tool sanitizer     findings, and compute-sanitizer's
#     vgpu-counters.tsv  program kernel launches counter gpu virtual ratio: the counters that differ
# and prints how many agree. Writes only the tables whose part of on-gpu.sh (PARTS) GPU_FOLDER has.
build=$1 gpu=$2 out=$3
here=$(dirname "$0")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
tab=$(printf '\t')

# Prints the last line of a program on the virtual GPU, and keeps its counters.
last_line() { # NAME
    "$build/vgpu-run" --counters "$scratch/$1.counters" "$build/vgpu/tests/programs/$1" 2>/dev/null | tail -n 1
}

compare_programs() {
    printf 'name\tgpu\tvirtual\tsame\n' >"$out/vgpu-programs.tsv"
    tail -n +2 "$gpu/programs.tsv" | while IFS=$tab read -r name status line; do
        [ -x "$build/vgpu/tests/programs/$name" ] || continue
        virtual=$(last_line "$name")
        if [ "$line" = "$virtual" ]; then same=yes; else same=no; fi
        printf '%s\t%s\t%s\t%s\n' "$name" "$line" "$virtual" "$same"
    done >>"$out/vgpu-programs.tsv"
    awk -F'\t' 'NR > 1 {n++; same += $4 == "yes"} END {print "programs with the same verdict and checksum: " same " of " n}' "$out/vgpu-programs.tsv"
}

compare_faults() {
    printf 'name\tvirtual\ttool\tsanitizer\n' >"$out/vgpu-faults.tsv"
    for source in "$here"/faults/*.cu; do
        name=$(basename "$source" .cu)
        [ -x "$build/vgpu/tests/faults/$name" ] || continue
        "$build/vgpu-run" --faults "$scratch/faults.tsv" "$build/vgpu/tests/faults/$name" >/dev/null 2>&1
        found=$(awk -F'\t' 'NR == 2 {n = split($3, p, "/"); print $1 " at " p[n] ":" $4}' "$scratch/faults.tsv")
        # The tool that found something, otherwise "none". A tool counts its warning that it cannot look.
        awk -F'\t' -v name="$name" -v found="$found" '
            $1 == name && $3 + 0 > 0 && $4 !~ /^Warning: .* is not supported by the selected tool/ && !done {print name "\t" found "\t" $2 "\t" $4; done = 1}
            $1 == name && $4 ~ /not run|did not end/ {why = $4}
            END {if (!done) print name "\t" found "\tnone\t" (why ? why : "no tool reports anything")}' "$gpu/sanitizer.tsv"
    done >>"$out/vgpu-faults.tsv"
    awk -F'\t' 'NR > 1 {n++; both += $3 != "none"} END {print "planted faults that compute-sanitizer reports too: " both " of " n}' "$out/vgpu-faults.tsv"
}

compare_counters() {
    # (compare_programs may have run them already)
    cut -d'"' -f 2 "$gpu/counters.csv" | sort -u | while read -r name; do
        [ -e "$scratch/$name.counters" ] || [ ! -x "$build/vgpu/tests/programs/$name" ] || last_line "$name" >/dev/null
    done

    # ncu's raw page: a header per program, a row per launch, every field quoted, numbers with commas.
    awk -F'","' '
        {sub(/^"/, "", $1); sub(/"$/, "", $NF)}
        $2 == "ID" {for (i = 1; i <= NF; i++) if ($i ~ /\.sum$/) column[$i] = i; next}
        $2 == "" {next}
        {
            kernel = $6; sub(/[(<].*/, "", kernel); sub(/^void /, "", kernel)
            launches[$1 "\t" kernel]++
            for (c in column) {v = $(column[c]); gsub(/,/, "", v); sum[$1 "\t" kernel "\t" c] += v}
        }
        END {
            for (k in launches) print k "\t" launches[k] "\tlaunches\t" launches[k]
            for (k in sum) {split(k, p, "\t"); print p[1] "\t" p[2] "\t" launches[p[1] "\t" p[2]] "\t" p[3] "\t" sum[k]}
        }' "$gpu/counters.csv" | sort >"$scratch/gpu.tsv"

    # The virtual GPU's programs are compiled in groups (group.awk), in which their kernels are in namespaces.
    for file in "$scratch"/*.counters; do
        program=$(basename "$file" .counters)
        awk -F'\t' -v program="$program" '
            NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next}
            $column["file"] == "" && $column["line"] == 0 {
                kernel = $column["kernel"]; sub(/[(<].*/, "", kernel); sub(/^(void )?(in_[a-z0-9_]*::)?/, "", kernel)
                n[kernel] += $column["launches"]
                for (c in column) sum[kernel "\t" c] += $column[c]
            }
            END {
                for (k in sum) {split(k, p, "\t"); print program "\t" p[1] "\t" n[p[1]] "\t" p[2] "\t" sum[k]}
            }' "$file"
    done >"$scratch/virtual.tsv"

    awk -F'\t' '
        BEGIN {
            name["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = "global_load_requests"
            name["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = "global_load_sectors"
            name["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = "global_store_requests"
            name["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = "global_store_sectors"
            name["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = "shared_load_wavefronts"
            name["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = "shared_store_wavefronts"
            name["smsp__inst_executed_op_shared_ld.sum"] = "shared_load_requests"
            name["smsp__inst_executed_op_shared_st.sum"] = "shared_store_requests"
            name["smsp__inst_executed.sum"] = "warp_instructions"
        }
        FNR == NR {virtual[$1 "\t" $2 "\t" $4] = $5; launches[$1 "\t" $2] = $3; next}
        ($4 in name) && launches[$1 "\t" $2] == $3 {
            v = virtual[$1 "\t" $2 "\t" name[$4]] + 0
            print $1 "\t" $2 "\t" $3 "\t" name[$4] "\t" $5 "\t" v "\t" ($5 ? sprintf("%.3f", v / $5) : (v ? "-" : "1.000"))
        }' "$scratch/virtual.tsv" "$scratch/gpu.tsv" | sort -t "$tab" -k 1,2 -k 4,4 >"$scratch/counters"
    {
        printf 'program\tkernel\tlaunches\tcounter\tgpu\tvirtual\tratio\n'
        awk -F'\t' '$5 != $6' "$scratch/counters"
    } >"$out/vgpu-counters.tsv"
    awk -F'\t' '{n[$4]++; exact[$4] += $5 == $6} END {for (c in n) print c ": equal in " exact[c] " of " n[c] " kernels"}' "$scratch/counters" | sort
}

[ ! -e "$gpu/programs.tsv" ] || compare_programs
[ ! -e "$gpu/sanitizer.tsv" ] || compare_faults
[ ! -e "$gpu/counters.csv" ] || compare_counters
