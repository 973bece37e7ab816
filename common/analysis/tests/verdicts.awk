# Prints the verdicts of `vprof --analysis`: a row "kernel grid limiter ns" per kernel and grid (ns: mean of its
# launches). Limiters have the names of limiters.def, not the titles.
#
#   awk -f verdicts.awk limiters.def ANALYSIS
FNR == NR {
    if (/^LIMITER/) {
        split($0, part, /[(,] */)
        split($0, quoted, "\"")
        name[quoted[2]] = part[3]
    }
    next
}
/ blocks of / {
    sub(/^ +/, "")
    n = split($0, field, /  +/)
    kernel = grid = field[n]
    sub(/\(.*/, "", kernel)
    sub(/ blocks of .*/, "", grid)
    sub(/.* /, "", grid)
    scale = field[2] ~ /us$/ ? 1e3 : field[2] ~ /ms$/ ? 1e6 : field[2] ~ /[0-9]s$/ ? 1e9 : 1
    printf "%s\t%s\t%s\t%.0f\n", kernel, grid, (field[4] in name) ? name[field[4]] : "?" field[4],
           field[2] * scale / field[3]
}
