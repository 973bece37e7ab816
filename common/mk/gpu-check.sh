#!/bin/sh
# Runs all references on this machine's GPU: grades them at every size and model, compares them with the virtual GPU,
# runs compute-sanitizer on them, and benchmarks them. Writes tables.
#
#   gpu-check.sh BUILD_FOLDER CUDA_HOME OUTPUT_FOLDER [DEVICE]
#
# OUTPUT_FOLDER/<gpu>/ gets machine.tsv, not-passed.tsv (the grader's checks that failed, or passed with no model),
# inference.tsv (accuracy and error at each size), against-virtual.tsv (shapes run on both GPUs), sanitizer.tsv, and from
# the benchmark bench.tsv and peaks.tsv. DEVICE is gpu (default) or virtual; virtual uses 2 images and skips
# steps that need a GPU, to test this script.
# PARTS="virtual grade bench sanitizer" (all by default) selects the steps.
# Exit status: 0 all steps passed, 1 a step failed, 2 could not run.
set -u
build=$1 cuda=$2 out=$3 device=${4:-gpu}
parts=${PARTS:-virtual grade bench sanitizer}
PATH=$PATH:$cuda/bin
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64
export PATH LD_LIBRARY_PATH
work=$build/gpu-check
failures=0
cores=$(nproc)

say() { printf '%s  gpu-check: %s\n' "$(date +%H:%M:%S)" "$*"; }
failed() {
    say "FAILED: $*"
    failures=$((failures + 1))
}
wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac }

[ -x "$cuda/bin/nvcc" ] || {
    echo "gpu-check: skipped: no nvcc in $cuda/bin (hint: run make setup, or name an installed toolkit: make CUDA_HOME=FOLDER)"
    exit 0
}
if [ "$device" = gpu ]; then
    [ -e /dev/nvidiactl ] || {
        echo "gpu-check: skipped: no NVIDIA GPU (hint: without a GPU, run make gpu-check DEVICE=virtual)"
        exit 0
    }
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
    sizes=100,1000,10000
    run=
else
    name='virtual GPU' driver=- sizes=2
    run=$build/vgpu-run
fi
# "NVIDIA H200" is h200.
slug=$(echo "$name" | sed 's/^NVIDIA //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
to=$out/$slug
mkdir -p "$work" "$to" || exit 2
milestones=$(cd "$build/reference" && ls -d m[2-9] m[1-9][0-9] 2>/dev/null)
[ -n "$milestones" ] || {
    echo "gpu-check: no references are built in $build/reference (hint: run: make reference)" >&2
    exit 2
}

# ---- the machine --------------------------------------------------------------------------------------
{
    printf 'what\tvalue\n'
    printf 'gpu\t%s\n' "$name"
    printf 'driver\t%s\n' "$driver"
    printf 'nvcc\t%s\n' "$("$cuda/bin/nvcc" --version | sed -n 's/.*release.*, V//p')"
    printf 'gcc\t%s\n' "$(gcc --version | head -n 1)"
    printf 'cpu\t%s, %s cores\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$cores"
    printf 'kernel\t%s\n' "$(uname -sr)"
    printf 'date\t%s\n' "$(date -u '+%Y-%m-%d %H:%M UTC')"
    printf 'version\t%s\n' "$(cat VERSION 2>/dev/null || git describe --always --dirty --tags 2>/dev/null || echo unknown)"
} >"$to/machine.tsv"

# ---- the same shapes on both GPUs --------------------------------------------------------------------------
against_virtual() {
    say "unit shapes on the virtual GPU and on $name"
    for m in $milestones; do
        "$build/vgpu-run" --cores 2 "$build/gpushapes" --save "$work/$m.outputs" "$m=$build/reference/$m/libconv.so" \
            >"$work/$m.virtual" 2>"$work/$m.virtual.log" &
    done
    wait
    printf 'milestone\tdevice\tstatus\tshapes\tright\telements\terror_to_tolerance\tsame_bits\tdifference_to_tolerance\n' >"$to/against-virtual.tsv"
    for m in $milestones; do
        library=$build/reference/$m/libconv.so
        row=$(cat "$work/$m.virtual")
        [ -n "$row" ] && status=ok || { status=failed; failed "$m on the virtual GPU: $(head -n 3 "$work/$m.virtual.log")"; }
        printf '%s\tvirtual GPU\t%s\t%s\n' "$m" "$status" "${row:-$(printf '\t\t\t\t\t')}"
        # shellcheck disable=SC2086
        row=$($run "$build/gpushapes" --against "$work/$m.outputs" "$m=$library" 2>"$work/$m.log")
        status=$?
        [ $status -eq 0 ] && status=ok || { status=failed; failed "$m on $name: $(head -n 3 "$work/$m.log")" >&2; }
        printf '%s\t%s\t%s\t%s\n' "$m" "$name" "$status" "${row:-$(printf '\t\t\t\t\t')}"
    done >>"$to/against-virtual.tsv"
}

# ---- gradings -----------------------------------------------------------------------------------------
# inference_rows MILESTONE: prints the entries of "inference" in a result.json as rows.
inference_rows() {
    awk -v milestone="$1" '
        /"inference":/ {inside = 1}
        !inside {next}
        {value = $0; sub(/^[^:]*:[ \t]*/, "", value); gsub(/[",]/, "", value); if (value == "null") value = ""}
        /"model":/ {model = value}
        /"images":/ {images = value}
        /"op_times_s":/ {gsub(/[][,]/, " ", value); times = ""
            count = split(value, part, " ")
            for (i = 1; i <= count; i++) times = times (i > 1 ? "+" : "") sprintf("%.4f", part[i] * 1000)}
        /"correctness":/ {correctness = value}
        /"expected_correctness":/ {expected = value}
        /"max_error":/ {error = value}
        /"passed":/ {printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", milestone, model, images, value, correctness, expected, error, times}
        /\]/ && !/"op_times_s":/ {exit}'
}

# not_passed: of rows "milestone model check status message", prints one for each check that failed with a model, or
# passed with none.
not_passed() {
    printf 'milestone\tmodel\tcheck\tstatus\tmessage\n'
    awk -F '\t' '
        {check = $1 FS $3}
        $4 == "pass" {passed[check] = 1; next}
        !(check in row) {order[++n] = check}
        !(check in row) || $4 == "fail" {row[check] = $0; failed[check] = $4 == "fail"}
        END {for (i = 1; i <= n; i++) if (failed[order[i]] || !(order[i] in passed)) print row[order[i]]}'
}

grade() {
    : >"$work/checks"
    printf 'milestone\tmodel\timages\tpassed\tcorrectness\texpected_correctness\tlargest_error\top_times_ms\n' >"$to/inference.tsv"
    for m in $milestones; do
        for model in two-layer one-layer-high one-layer-low two-layer-86; do
            # The unit shapes are the same for all models: run all of them once, fewer in the other runs.
            [ "$model" = two-layer ] && quick= || quick=--quick
            say "grading $m, $model"
            report=$work/$m-$model
            rm -rf "$report"
            # shellcheck disable=SC2086
            "$build/grader" "$m" --reference --device "$device" --model "$model" --images "$sizes" --seed 1 $quick \
                --report "$report" >"$report.log" 2>&1
            status=$?
            [ $status -eq 0 ] || failed "$m, $model: grader's exit status $status: $(grep -v '^  pass' "$report.log" | head -n 12)"
            [ -e "$report/result.json" ] || continue
            awk -F '\t' -v m="$m" -v model="$model" 'NR > 1 && $2 == "automatic" {print m "\t" model "\t" $1 "\t" $3 "\t" $7}' \
                "$report/checks.tsv" >>"$work/checks"
            inference_rows "$m" <"$report/result.json" >>"$to/inference.tsv"
        done
    done
    [ ! -x "$build/library-baseline" ] || grade_baseline
    not_passed <"$work/checks" >"$to/not-passed.tsv"
}

grade_baseline() {
    say 'the library baseline'
    report=$work/m0
    rm -rf "$report"
    "$build/grader" m0 --images "$sizes" --report "$report" >"$report.log" 2>&1 ||
        failed "m0: grader's exit status $?: $(grep -v '^  pass' "$report.log" | head -n 12)"
    [ -e "$report/result.json" ] || return
    awk -F '\t' 'NR > 1 && $2 == "automatic" {print "m0\ttwo-layer\t" $1 "\t" $3 "\t" $7}' "$report/checks.tsv" >>"$work/checks"
    inference_rows m0 <"$report/result.json" >>"$to/inference.tsv"
}

# ---- compute-sanitizer --------------------------------------------------------------------------------
sanitize_one() { # MILESTONE TOOL
    log=$work/$1.$2
    timeout 240 compute-sanitizer --tool "$2" "$build/gpushapes" "$1=$build/reference/$1/libconv.so" >"$log" 2>&1
    status=$?
    summary=$(grep 'SUMMARY' "$log" | sed 's/^=* *//' | tr '\t' ' ')
    verdict=failed
    [ $status -eq 0 ] && echo "$summary" | grep -q -e 'ERROR SUMMARY: 0 errors' -e 'RACECHECK SUMMARY: 0 hazards' && verdict=clean
    [ $status -eq 124 ] && summary='did not end in 240 s'
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$verdict" "$summary" >"$log.row"
}

sanitizer() {
    printf 'milestone\ttool\tstatus\tsummary\n' >"$to/sanitizer.tsv"
    if [ "$device" != gpu ] || ! command -v compute-sanitizer >/dev/null; then
        say 'sanitizer: skipped: needs a GPU and compute-sanitizer'
        for m in $milestones; do printf '%s\tall\tskip\tneeds a GPU and compute-sanitizer\n' "$m"; done >>"$to/sanitizer.tsv"
        return
    fi
    say 'unit shapes under compute-sanitizer'
    running=0
    for m in $milestones; do
        for tool in memcheck racecheck initcheck synccheck; do
            sanitize_one "$m" "$tool" &
            running=$((running + 1))
            [ $((running % 8)) -eq 0 ] && wait
        done
    done
    wait
    for m in $milestones; do
        for tool in memcheck racecheck initcheck synccheck; do cat "$work/$m.$tool.row"; done
    done >>"$to/sanitizer.tsv"
    grep -q '	failed	' "$to/sanitizer.tsv" && failed "compute-sanitizer: $(grep '	failed	' "$to/sanitizer.tsv")"
}

benchmark() {
    say 'benchmark'
    # shellcheck disable=SC2086
    $run "$build/gpubench" --images "$sizes" --out "$to" >"$work/bench.txt" 2>&1 ||
        failed "benchmark: $(grep -e wrong -e failed -e gpubench: "$work/bench.txt" | head -n 5)"
}

wanted virtual && against_virtual
wanted bench && benchmark
wanted grade && grade
wanted sanitizer && sanitizer
say "tables in $to"
[ $failures -eq 0 ] || {
    say "$failures failed"
    exit 1
}
say 'all passed'
