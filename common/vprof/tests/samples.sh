#!/bin/sh
# Tests vprof on programs in the style of the CUDA samples: compares its findings with the expectations in each source.
#
#   samples.sh [BUILD_FOLDER DEVICE [TABLE]]
#
# DEVICE is gpu or virtual (default, for `make check`). Each program's row goes to TABLE: program, device, status (ok,
# failed, skip), findings. Exit status 1 if anything failed.
build=${1:-${CONVLAB_BUILD:-build}} device=${2:-virtual} table=${3:-/dev/null}
sources=common/vprof/tests/programs
. common/mk/tests/claims.sh

# option NAME SOURCE: prints the value of the source's line "// NAME: ...".
option() { sed -n "s|^// $1: ||p" "$2"; }

# found WHAT: prints the number of activities or calls in a summary; WHAT is a kind in the trace or a function's name.
found() {
    awk -v what="$1" 'BEGIN {FS = ","
        shown["copy_htod"] = "[CUDA memcpy HtoD]"; shown["copy_dtoh"] = "[CUDA memcpy DtoH]"
        shown["copy_dtod"] = "[CUDA memcpy DtoD]"; shown["memset"] = "[CUDA memset]"}
        {name = $0; for (i = 1; i < 8; i++) sub(/^[^,]*,/, "", name); gsub(/^"|"$/, "", name)}
        $1 == "\"GPU activities\"" && what == "kernel" && name !~ /^\[CUDA/ {n += $4}
        $1 == "\"GPU activities\"" && name == shown[what] || $1 == "\"API calls\"" && name == what {n += $4}
        END {print n + 0}' "$scratch/log"
}

# The shares of each group add up to 100.
shares_add_up() {
    awk 'BEGIN {FS = ","} /^"(GPU activities|API calls)"/ {sum[$1] += $2}
        END {for (group in sum) if (sum[group] < 99.99 || sum[group] > 100.01) {print group " " sum[group]; exit 1}}' "$scratch/log"
}

# Two kernels ran at the same time.
together() {
    sort -t "$(printf '\t')" -k5,5n "$scratch/trace" |
        awk -F '\t' '$1 == "kernel" {if ($5 < last) n++; if ($6 > last) last = $6} END {exit !n}'
}

# check EXPECTATION STATUS: kernel=5, kernel>=3, status=0, name:TEXT, no_name:TEXT (_ for a space),
# together (on a GPU)
check() {
    case $1 in
    together) [ "$device" = virtual ] || together ;;
    status=*) [ "$2" = "${1#status=}" ] ;;
    name:*) grep -qF -- "$(echo "${1#name:}" | tr _ ' ')" "$scratch/log" ;;
    no_name:*) ! grep -qF -- "${1#no_name:}" "$scratch/log" ;;
    *'>='*) [ "$(found "${1%>=*}")" -ge "${1#*>=}" ] ;;
    *) [ "$(found "${1%=*}")" = "${1#*=}" ] ;;
    esac
}

# Uses fewer launches if the CPU executes them.
arguments() { if [ "$device" = virtual ] && [ "$name" = launches ]; then echo 1000; else option arguments "$source"; fi; }

printf 'program\tdevice\tstatus\tfound\n' >"$table"
for source in "$sources"/*.cu; do
    name=$(basename "$source" .cu) bad=
    where=$(option device "$source")
    [ -z "$where" ] || [ "$where" = "$device" ] || continue
    if ! [ -x "$build/profiler/samples/$name" ]; then
        printf '%s\t%s\tskip\tnot compiled\n' "$name" "$device" >>"$table"
        continue
    fi
    # shellcheck disable=SC2046
    timeout 60 "$build/vprof" --device "$device" --csv -s -f -o "$scratch/trace" --log-file "$scratch/log" $(option vprof "$source") \
        "$build/profiler/samples/$name" $(arguments) >"$scratch/out" 2>&1
    status=$?
    expected=$(option expect "$source")
    [ "$device" = virtual ] && [ "$name" = launches ] && expected='kernel=1000 cudaLaunchKernel=1000 status=0'
    for one in $expected; do
        check "$one" "$status" || bad="$bad $one"
    done
    shares_add_up >"$scratch/shares" || bad="$bad shares:$(cat "$scratch/shares")"
    said=$(grep -h 'Warning' "$scratch/log" | sed 's/^==[0-9]*== //' | tr '\n' ' ')
    if [ -n "$bad" ]; then
        printf '%s\t%s\tfailed\t%s; status %s; %s\n' "$name" "$device" "$bad" "$status" "$said" >>"$table"
        fails "$name on $device:$bad (status $status)"
        cat "$scratch/out" "$scratch/log"
    else
        passes
        printf '%s\t%s\tok\t%s %s\n' "$name" "$device" "$expected" "$said" >>"$table"
    fi
done
claims_end
