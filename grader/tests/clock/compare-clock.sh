#!/bin/sh
# Compares the clock's model with a GPU: runs the same programs on both.
#
#   compare-clock.sh measure BUILD_FOLDER OUTPUT_FOLDER              on a machine with a GPU: writes clock-gpu.tsv
#   compare-clock.sh compare BUILD_FOLDER CLOCK_GPU_TSV GPU OUTPUT   anywhere: measures on the virtual GPU; writes OUTPUT
#
# clock-gpu.tsv   kind name variant value             kind "device": properties of the GPU; otherwise nanoseconds
# OUTPUT          kind name variant gpu_ns modelled_ns ratio
#
# make builds the programs and libraries: microbench, children, conv_times, the references and the convolutions of
# variants/.
set -eu
verb=$1 build=$2

# The libraries to time, the same on the GPU and on the virtual GPU.
references=$(ls -d "$build"/clock/m[0-9]*/libconv.so | sort -V)
variants=$(ls -d "$build"/clock/*/libconv.so | grep -v '/m[0-9]*/libconv.so$')

# all COMMAND...: runs every measurement with this command; --once or nothing follows each program's name.
all() { # ONCE COMMAND...
    once=$1
    shift
    for program in microbench children; do
        # shellcheck disable=SC2086
        "$@" "$build/vgpu/tests/clock/$program" $once |
            awk -F'\t' -v OFS='\t' 'NR > 1 { print ($1 == "device" ? $1 : "microbench"), $1, $2, $3 }'
    done
    # shellcheck disable=SC2086
    { "$@" "$build/tests/conv_times" $once 100 $variants
      "$@" "$build/tests/conv_times" $once 100,1000 $references; } |
        awk -F'\t' -v OFS='\t' '$1 != "library" { print ($1 ~ /^m[0-9]+$/ ? "reference" : "variant"), $1, $3 ", " $2 " images", $4 }'
}

case $verb in
measure)
    mkdir -p "$3"
    cuda=$("$(dirname "$0")/../../../common/mk/find-cuda.sh")
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64"
    { printf 'kind\tname\tvariant\tvalue\n'; all '' env; } >"$3/clock-gpu.tsv"
    echo "$3/clock-gpu.tsv: $(grep -c -v '^kind' "$3/clock-gpu.tsv") values of $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)"
    ;;
compare)
    all --once "$build/vgpu-run" --profile "$4" >"$5.part"
    awk -F'\t' -v OFS='\t' '
        NR == FNR { modelled[$1 FS $2 FS $3] = $4; next }
        FNR == 1 { print "kind", "name", "variant", "gpu_ns", "modelled_ns", "ratio"; next }
        $1 FS $2 FS $3 in modelled && $4 > 0 { m = modelled[$1 FS $2 FS $3]; print $0, m, sprintf("%.3f", m / $4) }' \
        "$5.part" "$3" >"$5.new"
    rm "$5.part"
    mv "$5.new" "$5"
    # Prints the median factor, and how many factors are within 1.25 and 1.5.
    for kind in device microbench variant reference; do
        awk -F'\t' -v kind="$kind" '$1 == kind { print $6 < 1 ? ($6 > 0 ? 1 / $6 : 99) : $6 }' "$5" | sort -n | awk -v kind="$kind" '
            { f[NR] = $1; near += $1 <= 1.25; nearish += $1 <= 1.5 }
            END { if (NR) printf "%s: %d cases, median factor %.2f, within 1.25: %d, within 1.5: %d\n", kind, NR, f[int((NR + 1) / 2)], near, nearish }'
    done
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
