#!/bin/sh
# A page of the tables that `make profile-check` wrote: profiler.md.
#
#   profiler-page.sh FOLDER         for example docs/results/h200
set -eu
cd "$1"
for table in machine samples kernels spins overhead programs sandbox sums launches metrics; do
    [ -e profiler-$table.tsv ] || {
        echo "profiler-page: $1/profiler-$table.tsv is missing (hint: run: make profile-check)" >&2
        exit 2
    }
done
value() { awk -F '\t' -v what="$1" '$1 == what {print $2}' profiler-machine.tsv; }
# Rows of a table, whose columns a program knows by name.
table() { # FILE PROGRAM
    awk -F '\t' 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}'"$2" "profiler-$1.tsv"
}
# A table of what is NAME_ns longer than plain_ns, by the number of images. What differs by no more than the
# RESOLUTION is within 2%, too.
costs() { # FILE NAME RESOLUTION
    table "$1" '
        {split($at["what"], w, ", "); p = $at["plain_ns"]; q = $at["'"$2"'_ns"]; o = 100 * (q - p) / p; n[w[2]]++
         if (o <= 2 || q - p <= '"$3"') in2[w[2]]++; plain[w[2]] += p; with[w[2]] += q
         if (o > worst[w[2]] || n[w[2]] == 1) {worst[w[2]] = o; of[w[2]] = $at["what"]; more[w[2]] = (q - p) / 1000}}
        END {print "| | layers | within 2% | all together | largest | of |"; print "|---|---:|---:|---:|---:|---|"
         for (s in n) printf "| %s | %d | %d | %.2f%% | %.2f%% (%.1f us) | %s |\n", s, n[s], in2[s],
             100 * (with[s] - plain[s]) / plain[s], worst[s], more[s], of[s] | "sort -t\"|\" -k2,2n"}'
}
most=$(table kernels '$at["images"] > most {most = $at["images"]} END {print most}')

cat <<END >profiler.md.part
# The profiler on an $(value gpu)

Made by \`make profiler-page\` from the tables beside this page, which \`make profile-check\` wrote on
$(value date) (driver $(value driver), Nsight Compute $(value ncu)). [profiler.md](../../profiler.md) is the manual.

## Kernels' times beside Nsight Compute's

Medians over ten launches of each kernel of the references, by \`vprof\` and by \`ncu --clock-control none
--cache-control none --metrics gpu__time_duration.sum\`. ncu runs every kernel alone, so in both programs each kernel
started on an idle GPU with nothing of its data in the L2 cache. ncu measured twice: by how much it differs from itself
is in the table, too. Kernels are named by their symbols; one name with several grids is one row for each. All are in
[profiler-kernels.tsv](profiler-kernels.tsv); here are those at the largest size.

$(table kernels '
    function size(x) {return x < 0 ? -x : x}
    {a = size($at["difference_percent"]); b = size($at["ncu_itself_percent"]); ns = $at["ncu_ns"]
     g = ns >= 50000 ? 1 : ns >= 10000 ? 2 : 3; n[g]++; in2[g] += a <= 2; itself2[g] += b <= 2
     if (a > worst[g]) worst[g] = a; if (b > itself[g]) itself[g] = b
     d = $at["vprof_ns"] - ns; if (n[g] == 1 || d < least[g]) least[g] = d; if (n[g] == 1 || d > most[g]) most[g] = d}
    END {print "| kernels that take | rows | vprof and ncu within 2% | largest | vprof minus ncu, us | ncu and ncu within 2% | largest |"; print "|---|---:|---:|---:|---:|---:|---:|"
     name[1] = "50 us or more"; name[2] = "10 to 50 us"; name[3] = "less than 10 us"
     for (g = 1; g <= 3; g++) if (n[g]) printf "| %s | %d | %d | %.2f%% | %.2f to %.2f | %d | %.2f%% |\n", name[g], n[g], in2[g], worst[g],
        least[g] / 1000, most[g] / 1000, itself2[g], itself[g]}')

The shortest differ by how the tools mark a kernel's start and end. That is best seen of kernels that only wait
([spins.cu](../../../common/vprof/tests/compared/spins.cu)): ncu's time of the same kernel depends on what else it measures in the
same run. \`vprof\` takes 0.40 us off what CUPTI tells, on GPUs of compute capability 9.0, so that its times lie in the
middle of ncu's. What ncu says of a kernel of 2 us depends by more than 10% on how it is asked: two tools cannot agree
better there than one with itself. Kernels that leave much to be written back (m5's unroll) end up to 2 us later for
CUPTI: presumably it waits until all of that is visible.

$(table spins '
    !rows++ {print "| kernel | vprof, us | ncu, its default report | ncu --set full | ncu, the time only |"; print "|---|---:|---:|---:|---:|"}
    {printf "| `%s` | %.2f | %.2f | %.2f | %.2f |\n", $at["kernel"], $at["vprof_ns"] / 1000, $at["ncu_ns"] / 1000, $at["ncu_full_ns"] / 1000, $at["ncu_time_only_ns"] / 1000}')

$(table kernels '
    $at["images"] != '"$most"' {next}
    !rows++ {print "| images | kernel | launches | vprof, us | ncu, us | ncu again, us | difference |"; print "|---:|---|---:|---:|---:|---:|---:|"}
    {split($at["kernel"], k, " "); printf "| %d | `%s` %s | %d | %.2f | %.2f | %.2f | %.2f%% |\n", $at["images"],
        k[1], k[2], $at["launches"], $at["vprof_ns"] / 1000, $at["ncu_ns"] / 1000, $at["ncu_again_ns"] / 1000, $at["difference_percent"]}')

## What profiling costs

Our programs that tell an Op Time take it while \`vprof\` records nothing, between \`cudaProfilerStop()\` and
\`cudaProfilerStart()\`, and then do the convolution once more for the record
([recorded.h](../../../common/trace/recorded.h)). Here are the Op Times of each layer of each reference, as
\`conv_times\` measures them with CUDA events, without \`vprof\` and with it, by turns; medians over $(table overhead '{n = $at["rounds"]; if (!m || n < m) m = n} END {print m}') rounds, and more at 100 images. All are in [profiler-overhead.tsv](profiler-overhead.tsv).

$(costs overhead profiled 0)

The programs whose output the reports quote, with two-layer, are the runner with each reference and the baseline of
cuDNN. They print one time for each layer, of the host's clock and to the microsecond, so a difference of one
microsecond counts as none ([profiler-programs.tsv](profiler-programs.tsv)):

$(costs programs profiled 1000)

### What recording costs

A program that does not call \`cudaProfilerStop()\` is recorded throughout, and its own times have the cost of that in
them. The same Op Times, of convolutions that are recorded (\`conv_times --recorded\`):

$(costs overhead recorded 0)

A launch that is recorded, and that nobody waits for, costs the host this much more; a kernel that runs longer than a
launch hides it:

$(table launches '
    NR == 2 {print "| run | launched | kernels recorded | calls recorded | warnings | a launch, ns | with vprof, ns |"; print "|---|---:|---:|---:|---:|---:|---:|"}
    {printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7}')

The rest is the time that the GPU takes to note when a kernel or copy starts and ends, 2 to 3 us for each: it is felt
where a layer takes less than a few hundred. \`--concurrent-kernels on\` takes half a microsecond to one
instead, and some percent of the kernels that have very many small blocks.

## In the sandbox

What a profile has that \`grader m3 --reference --device gpu --profile --require-sandbox\` recorded: the program, the
library that records it, and ncu all run inside.

$(table sandbox '
    NR == 2 {print "| images | part | state | reason |"; print "|---:|---|---|---|"}
    {printf "| %s | %s | %s | %s |\n", $at["images"], $at["part"], $at["state"], $at["reason"]}')

## Do figures add up?

The shares of the GPU's activities add up to 100%, and activities on one stream take no longer than the time between
the first start and the last end: $(table sums '{n++; if ($at["status"] == "ok") ok++} END {printf "%d of %d runs", ok, n}').

## Programs

$(table samples '
    NR == 2 {print "| program | status | what vprof found |"; print "|---|---|---|"}
    {printf "| [%s](../../../common/vprof/tests/programs/%s.cu) | %s | %s |\n", $1, $1, $3, $4}')

## Metrics beside Nsight Compute's

Two runs: \`vprof --metrics\`, which computes nvprof's metrics from counts, and ncu's own ratio of the same. Means over
the launches of a kernel; efficiencies and ncu's occupancy in percent.

$(table metrics '
    NR == 2 {print "| | kernel | metric | vprof | ncu |"; print "|---|---|---|---:|---:|"}
    {printf "| %s | `%s` | %s | %s | %.6g |\n", $at["milestone"], $at["kernel"], $at["metric"], $at["vprof"], $at["ncu"]}')
END
mv profiler.md.part profiler.md
echo "profiler-page: $1/profiler.md"
