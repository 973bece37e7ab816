#!/bin/sh
# A page and plots from the tables that `make gpu-check` wrote: references.md, ladder.svg, against-cudnn.svg;
# and from those of `grader sweep`, if there are any: sweep.md, sweep-P.svg.
#
#   results-page.sh FOLDER BUILD_FOLDER        for example docs/results/h200 build
#
# Needs the grader and gnuplot for the plots. The same tables give the same bytes.
set -eu
folder=$1 build=$(cd "$2" && pwd)
cd "$folder"
for table in machine bench totals peaks checks inference against-virtual sanitizer; do
    [ -e $table.tsv ] || {
        echo "results-page: $folder/$table.tsv is missing (hint: run: make gpu-check)" >&2
        exit 2
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { awk -F '\t' -v what="$1" '$1 == what {print $2}' machine.tsv; }
peak() { awk -F '\t' -v what="$1" '$2 == what {printf "%.*f", $3 == "GB/s" ? 0 : 1, $5}' peaks.tsv; }
# Rows of a table whose column has a value; -v assignments and a program that sees columns by name.
table() { # FILE PROGRAM
    awk -F '\t' 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}'"$2" "$1"
}
gpu=$(value gpu)

# ---- plots -------------------------------------------------------------------------------------------
# Drawn by the grader, as those of reports; of the formats the page needs one.
layers=$(table bench.tsv '{key = $at["model"] "\t" $at["layer"]} !seen[key]++ {print key}' | sed 's/\t/:/')
most=$(table bench.tsv '$at["images"] > most {most = $at["images"]} END {print most + 0}')
"$build/grader" plots . >"$work/drawn" || cat "$work/drawn" >&2
for plot in plots/*.svg; do
    [ -e "$plot" ] && mv "$plot" .
done
rm -rf plots
drawn() { grep -q "^plot .*/$1[.]svg" "$work/drawn"; }

# ---- page --------------------------------------------------------------------------------------------
layer_table() { # MODEL LAYER
    for n in $(table bench.tsv '!seen[$at["images"]]++ {print $at["images"]}' | sort -n); do
        table bench.tsv '$at["model"] == "'"$1"'" && $at["layer"] == '"$2"' && $at["images"] == '"$n"' {
            if (!rows++) {
                printf "\n%s images: %s GMAC, floor %s ms (%s)\n\n", $at["images"], $at["gmac"] + 0, $at["floor_ms"] + 0, $at["floor_of"]
                print "| | median, ms | 95% interval, ms | TFLOP/s | GB/s | times the floor | largest error / tolerance |"
                print "|---|---:|---:|---:|---:|---:|---:|"
            }
            if ($at["status"] == "ok")
                printf "| %s%s | %.4g | %.4g to %.4g | %.2f | %.0f | %.2f | %.3f |\n", $at["subject"], $at["note"] == "" ? "" : " (" $at["note"] ")", $at["median_ms"], $at["low_ms"], $at["high_ms"], $at["tflop_per_s"], $at["gb_per_s"], $at["median_ms"] / $at["floor_ms"], $at["error_to_tolerance"]
            else
                printf "| %s | %s: %s | | | | | |\n", $at["subject"], $at["status"], $at["note"]}'
    done
}

# The figures that the references are meant to reach on an H200, beside those measured.
goals() {
    [ "$gpu" = 'NVIDIA H200' ] || return 0
    printf '\n## Goals\n\n| | goal | measured | |\n|---|---:|---:|---|\n'
    while IFS='|' read -r subject model layer images most_ms; do
        table bench.tsv '$at["subject"] == "'"$subject"'" && $at["model"] == "'"$model"'" && $at["layer"] == '"$layer"' && $at["images"] == '"$images"' && $at["status"] == "ok" {
            printf "| %s, %s conv%s, %s images | at most %s ms | %.3f ms | %s |\n", $at["subject"], $at["model"], $at["layer"], $at["images"], '"$most_ms"', $at["median_ms"], ($at["median_ms"] <= '"$most_ms"' ? "reached" : "**missed**")}'
    done <<END
m9|two-layer|1|10000|0.70
m9|two-layer|2|10000|2.4
m9|one-layer|1|10000|0.36
END
    while IFS='|' read -r subject model images times; do
        table totals.tsv '$at["subject"] == "'"$subject"'" && $at["model"] == "'"$model"'" && $at["images"] == '"$images"' && $at["times_cudnn"] != "" {
            printf "| %s, %s, %s images | %s times as fast as cuDNN | %.2f | %s |\n", $at["subject"], $at["model"] == "all" ? "all layers" : $at["model"], $at["images"], '"$times"', $at["times_cudnn"], ($at["times_cudnn"] >= '"$times"' ? "reached" : "**missed**")}'
    done <<END
m9|all|10000|2.5
m8|all|10000|2
m9|two-layer|100|2
END
    # Pairs in which the first is meant to be the slower one, in all layers together.
    while IFS='|' read -r slower faster; do
        table totals.tsv '$at["model"] == "all" && $at["images"] == '"$most"' {ms[$at["subject"]] = $at["sum_ms"]}
            END {if (("'"$slower"'" in ms) && ("'"$faster"'" in ms))
                printf "| '"$slower"' takes longer than '"$faster"', %s images | %.4g ms | %.4g ms | %s |\n", '"$most"', ms["'"$slower"'"], ms["'"$faster"'"], (ms["'"$slower"'"] >= ms["'"$faster"'"] ? "reached" : "**missed**")}'
    done <<END
m2|m3
m5|m6
m6|m8
m8|m9
END
}

page() {
    cat <<END
# All references on an $gpu

<!-- Made from the tables in this folder by common/mk/results-page.sh: change those, or the script. -->

Driver $(value driver), nvcc $(value nvcc), $(value gcc), $(value cpu); $(value date), ConvLab $(value version).
To repeat: \`make gpu-check\` on a machine with such a GPU.

In the same run the device copied $(peak copy) GB/s (read and written) and reached $(peak multiply-add) TFLOP/s
of float32 multiply-adds. The *floor* of a layer is that of the direct algorithm: the larger of its bytes
(x, k and y once each) over the first and its operations over the second. No kernel that sums every product can
beat it there; an algorithm with fewer multiplications can.

Times are those of the device, between two events: medians of 51 runs (15 at 10000 images) with
non-parametric 95% intervals. All subjects take turns; each run has a cache without its tensors and an output
full of NaN, and every output of every run was compared with one summed in float64. cuDNN's algorithm is the
fastest that its own search finds; *cudnn-tf32* may use tensor cores with 10 bits of mantissa, and is held to a
tolerance that is wider by as much.
END
    drawn ladder && printf '\n![Time of each reference, one panel a layer](ladder.svg)\n'
    drawn against-cudnn && printf '\n![Times as fast as cuDNN, by size](against-cudnn.svg)\n'
    printf '\n## Sums over layers\n\nMilliseconds, and times as fast as cuDNN in float32.\n'
    for model in $(table totals.tsv '!seen[$at["model"]]++ {print $at["model"]}'); do
        table totals.tsv '$at["model"] == "'"$model"'" {
            n = $at["images"]; s = $at["subject"]
            if (!size[n]++) sizes[++columns] = n
            if (!subject[s]++) subjects[++rows] = s
            cell[s, n] = sprintf("%.4g%s", $at["sum_ms"], $at["times_cudnn"] == "" ? "" : sprintf(" (%.2f)", $at["times_cudnn"]))
        } END {
            printf "\n| %s |", "'"$model"'" == "all" ? "all layers" : "'"$model"'"
            for (c = 1; c <= columns; c++) printf " %s images |", sizes[c]
            printf "\n|---|"
            for (c = 1; c <= columns; c++) printf "---:|"
            print ""
            for (r = 1; r <= rows; r++) {
                printf "| %s |", subjects[r]
                for (c = 1; c <= columns; c++) printf " %s |", (subjects[r], sizes[c]) in cell ? cell[subjects[r], sizes[c]] : "–"
                print ""
            }}'
    done
    goals
    for layer in $layers; do
        printf '\n## %s conv%s\n' "${layer%:*}" "${layer#*:}"
        layer_table "${layer%:*}" "${layer#*:}"
    done
    printf '\n## Graded\n\nEvery reference, graded by the same grader on this GPU, with every model. Largest error of an output element, and the share of images classified right.\n\n'
    printf '| | model | images | outputs | correctness | expected | largest error |\n|---|---|---:|---|---:|---:|---:|\n'
    table inference.tsv '{printf "| %s | %s | %s | %s | %s | %s | %.1e |\n", $at["milestone"], $at["model"], $at["images"], $at["passed"] == "true" ? "right" : "**WRONG**", $at["correctness"], $at["expected_correctness"], $at["largest_error"]}'
    printf '\nChecks that failed, or that passed with no model:'
    table checks.tsv '{key = $at["milestone"] " " $at["check"]} $at["status"] == "pass" {passed[key] = 1; next}
        !(key in said) {keys[++n] = key; said[key] = $at["status"] ": " $at["message"]}
        $at["status"] == "fail" {failed[key] = 1; said[key] = "fail with " $at["model"] ": " $at["message"]}
        END {
            for (i = 1; i <= n; i++)
                if ((keys[i] in failed) || !(keys[i] in passed))
                    printf "%s %s (%s)", count++ ? ";" : "", keys[i], said[keys[i]]
            print count ? "." : " none."}'
    printf '\n## Beside the virtual GPU\n\nThe same shapes and data on both: how many output elements are equal bit for bit, and the largest difference as a part of the tolerance.\n\n'
    printf '| | shapes right here | right on the virtual GPU | elements | same bits | largest difference / tolerance |\n|---|---:|---:|---:|---:|---:|\n'
    table against-virtual.tsv '$at["device"] == "virtual GPU" && $at["same_bits"] == "" {there[$at["milestone"]] = $at["right"]; next}
        {printf "| %s | %s of %s | %s | %s | %.2f%% | %s |\n", $at["milestone"], $at["right"], $at["shapes"], there[$at["milestone"]], $at["elements"], 100 * $at["same_bits"] / $at["elements"], $at["difference_to_tolerance"]}'
    printf '\n## compute-sanitizer\n\n| | tool | | |\n|---|---|---|---|\n'
    table sanitizer.tsv '{printf "| %s | %s | %s | %s |\n", $at["milestone"], $at["tool"], $at["status"] == "failed" ? "**failed**" : $at["status"], $at["summary"]}'
}
page >"$work/page"
mv "$work/page" references.md

# The sweeps' own pages, one after the other; without any, the page stays as it is.
sweeps() {
    printf '# Parameter sweeps on an %s\n\n' "$gpu"
    printf '<!-- Made of the sweep-*.md that `grader sweep` wrote, by common/mk/results-page.sh. -->\n\n'
    printf 'How they come about: [sweeps](../../sweep.md).\n'
    for sweep in sweep-*.md; do
        echo
        sed 's/^#/##/; s|(plots/|(|' "$sweep"
    done
}
if ls sweep-*.md >/dev/null 2>&1; then
    sweeps >"$work/page"
    mv "$work/page" sweep.md
    rm sweep-*.md # all that is in them is in the page now
fi
echo "results-page: $folder/references.md"
