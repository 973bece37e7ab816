# ncu --csv --page raw, as a TSV table of what says what limits a kernel.
#
#   awk -f ncu.awk RAW.csv
#
# kernel grid ns, parts of the peak in percent (issue: instructions; fma, heavy (its
# half that also multiplies integers), alu, fp64, xu: pipes; lsu: the data
# path of L1 and shared memory; l2, dram, constant), lanes of a warp, occupancy, and why warps waited most.

# Splits a row of quoted fields.
function split_row(text, field, n, part, i) {
    n = split(text, part, "\",\"")
    for (i = 1; i <= n; i++) field[i] = part[i]
    sub(/^"/, "", field[1])
    sub(/"$/, "", field[n])
    return n
}

function value(name) {
    gsub(/,/, "", field[column[name]])
    return field[column[name]] + 0
}

function percent(name) {
    return sprintf("\t%.0f", value(name ".avg.pct_of_peak_sustained_elapsed"))
}

NR == 1 {
    n = split_row($0, name)
    for (i = 1; i <= n; i++) {
        column[name[i]] = i
        if (name[i] ~ /^smsp__average_warps_issue_stalled_.*_per_issue_active.ratio$/) {
            reason = name[i]
            sub(/^smsp__average_warps_issue_stalled_/, "", reason)
            sub(/_per_issue_active.ratio$/, "", reason)
            if (reason != "selected" && reason != "not_selected") stall[name[i]] = reason
        }
    }
    print "kernel\tgrid\tns\tissue\tfma\theavy\talu\tfp64\txu\tlsu\tl2\tdram\tconstant\tlanes\toccupancy\tstall"
    next
}
NR == 2 {
    split_row($0, unit)
    next
}
{
    split_row($0, field)
    kernel = field[column["Kernel Name"]]
    sub(/\(.*/, "", kernel)
    grid = field[column["Grid Size"]]
    gsub(/[() ]/, "", grid)
    gsub(/,/, "x", grid)
    time = "gpu__time_duration.sum"
    scale = unit[column[time]] == "us" ? 1000 : unit[column[time]] == "ms" ? 1000000 : 1
    worst = ""
    most = 0
    for (i in stall)
        if (value(i) > most) {
            most = value(i)
            worst = stall[i]
        }
    printf "%s\t%s\t%.0f", kernel, grid, value(time) * scale
    printf "%s%s", percent("sm__inst_issued"), percent("sm__pipe_fma_cycles_active")
    printf "%s%s", percent("sm__pipe_fmaheavy_cycles_active"), percent("sm__pipe_alu_cycles_active")
    printf "%s%s", percent("sm__pipe_fp64_cycles_active"), percent("sm__inst_executed_pipe_xu")
    printf "%s%s%s", percent("l1tex__data_pipe_lsu_wavefronts"), percent("lts__throughput"), percent("gpu__dram_throughput")
    printf "%s\t%.0f", percent("idc__request_cycles_active"), value("smsp__thread_inst_executed_per_inst_executed.ratio")
    printf "\t%.0f\t%s\n", value("sm__warps_active.avg.pct_of_peak_sustained_active"), worst
}
