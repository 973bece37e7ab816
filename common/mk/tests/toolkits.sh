#!/bin/sh
# Tests every toolkit of toolkits.tsv: the tables of the runtime against its headers and library, all programs of
# common/vgpu/tests/programs, and all references at 100 images, on the virtual GPU.
#
#   toolkits.sh [--page] [TOOLKIT...]       --page writes docs/results/toolkits.md
#
# With KEPT=1, toolkits with results in build/toolkits are not tested again.
#
# NVIDIA's wheels of CUDA 12 lack nvcc. Debian 13 (non-free) packages nvcc 12.4, which is fetched from apt's configured
# archive; 12.6 and 12.9 are tested with this nvcc and their own headers, runtime and ptxas.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$top" || exit 1
unset CUDA_HOME MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES LIBRARY_PATH
work=build/toolkits page=
[ "${1:-}" != --page ] || { page=docs/results/toolkits.md; shift; }
toolkits=${*:-$(tail -n +2 common/mk/toolkits.tsv | cut -f 1 | sort -uV)}
mkdir -p "$work"
bad=0

# front_end: puts the programs of Debian's nvcc 12.4 into a toolkit's folders.
front_end() {
    to=$top/$work/front-end
    [ ! -x "$to/bin/nvcc" ] || return 0
    rm -rf "$to" "$work/apt" && mkdir -p "$to/bin" "$to/nvvm/bin" "$work/apt/lists/partial" "$work/apt/archives/partial"
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site trixie non-free" >"$work/apt/list"
    set -- -o "Dir::Etc::sourcelist=$top/$work/apt/list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$top/$work/apt/lists" -o "Dir::Cache=$top/$work/apt"
    apt-get "$@" update >"$work/apt/log" 2>&1 &&
        (cd "$work/apt" && apt-get "$@" download nvidia-cuda-toolkit/trixie) >>"$work/apt/log" 2>&1 &&
        dpkg-deb -x "$work"/apt/nvidia-cuda-toolkit_*.deb "$work/apt/unpacked" </dev/null || {
        tail -n 2 "$work/apt/log" >&2
        return 1
    }
    programs=$work/apt/unpacked/usr/lib/nvidia-cuda-toolkit
    for program in cudafe++ fatbinary nvlink ptxas bin2c; do
        cp "$work/apt/unpacked/usr/bin/$program" "$to/bin/" || return 1
    done
    cp -r "$programs/bin/nvcc" "$programs/bin/crt" "$to/bin/" && cp "$programs/bin/cicc" "$to/nvvm/bin/" || return 1
    cat >"$to/bin/nvcc.profile" <<'EOF'
TOP              = $(_HERE_)/..
CICC_PATH        = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(CICC_PATH):$(_HERE_):
INCLUDES        +=  "-I$(TOP)/include" $(_SPACE_)
LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/lib"
EOF
    rm -rf "$work/apt"
}

# sources TOOLKIT: prints the programs that it can compile. Launches from kernels need a libcudadevrt that is not empty;
# a program may state "// needs CUDA 12.6".
sources() {
    devrt=$(ar t "toolkit/cuda-$1/lib/libcudadevrt.a")
    for source in common/vgpu/tests/programs/*.cu; do
        case $source in */child_*) [ -n "$devrt" ] || continue ;; esac
        needs=$(sed -n '1,3s|^// needs CUDA \([0-9.]*\).*|\1|p' "$source")
        [ "$(printf '%s\n' "${needs:-0}" "$1" | sort -V | tail -n 1)" = "$1" ] || continue
        echo "$source"
    done
}

# programs TOOLKIT: prints "NAME<tab>CHECKSUM", or the error instead of the checksum.
programs() {
    for source in $(sources "$1"); do
        name=$(basename "$source" .cu)
        program=$work/$1/vgpu/tests/programs/$name
        if [ ! -x "$program" ]; then
            said='not compiled'
        else
            said=$(timeout 300 build/vgpu-run "$program" 2>&1 | grep -E '^(PASS|FAIL)' | head -n 1 | awk '{print ($1 == "PASS" ? "" : $1 " ") $NF}')
        fi
        printf '%s\t%s\n' "$name" "${said:-no result}"
    done
}

references() { # TOOLKIT: prints "mN<tab>pass", or the checks that failed
    for library in "$work/$1"/reference/m*/libconv.so; do
        milestone=$(basename "$(dirname "$library")")
        [ "$milestone" != m1 ] || continue
        timeout 600 build/grader "$milestone" --lib "$library" --images 100 --report "$work/$1/report-$milestone" >"$work/$1/$milestone.log" 2>&1
        failed=$(sed -n 's/^  FAIL  \([a-z_0-9]*\) .*/\1/p' "$work/$1/$milestone.log" | paste -s -d, -)
        grep -q '^  pass  inference_100 ' "$work/$1/$milestone.log" || failed=${failed:-not graded}
        printf '%s\t%s\n' "$milestone" "${failed:-pass}"
    done
}

# one TOOLKIT
one() {
    [ -z "${KEPT:-}" ] || [ ! -e "$work/$1/versions.tsv" ] || return 0
    case $1 in
    12.*) front_end || { echo "toolkits: $1: Debian's nvcc cannot be fetched" >&2; return 1; }
        CUDA_FRONT_END=$top/$work/front-end common/mk/toolkit.sh "$1" || return 1
        # 12.4's wheel lacks this library, and nvlink refuses that of a newer wheel.
        rm -f "toolkit/cuda-$1/lib/libcudadevrt.a" && ar rcs "toolkit/cuda-$1/lib/libcudadevrt.a" ;;
    *) common/mk/toolkit.sh "$1" || return 1 ;;
    esac
    mkdir -p "$work/$1"
    names=$(sources "$1" | sed "s|.*/\(.*\)\.cu|$work/$1/vgpu/tests/programs/\1|")
    # shellcheck disable=SC2086
    make -k -j2 BUILD="$work/$1" CUDA_HOME="$top/toolkit/cuda-$1" $names reference >"$work/$1/make.log" 2>&1
    programs "$1" >"$work/$1/programs.tsv"
    references "$1" >"$work/$1/references.tsv"
    printf '%s\t%s\t%s\n' "$("toolkit/cuda-$1/bin/nvcc" --version | sed -n 's/.* V\([0-9.]*\)$/\1/p')" \
        "$(toolkit/cuda-"$1"/bin/ptxas --version | sed -n 's/.* V\([0-9.]*\)$/\1/p')" \
        "$(printf '__global__ void k() {}' >"$work/empty.cu" && "toolkit/cuda-$1/bin/nvcc" -ptx -arch=compute_80 "$work/empty.cu" -o - | sed -n 's/^\.version //p')" \
        >"$work/$1/versions.tsv"
}

linked=$(readlink toolkit/cuda)
for toolkit in $toolkits; do
    one "$toolkit" || bad=1
done
[ -z "$linked" ] || ln -sfn "$linked" toolkit/cuda

# The programs' checksums are compared with those of the first toolkit of CUDA 13.
# shellcheck disable=SC2046
tables=$(common/vgpu/cudart/tests/headers.py $(for t in $toolkits; do echo "toolkit/cuda-$t/include"; done)) || bad=1
write_page() {
    echo '# Toolkits'
    echo
    echo "Written by \`make toolkits PAGE=1\`, $(date -u +%F), ConvLab $(git describe --always --tags), $(gcc --version | head -n 1)."
    echo
    echo 'All programs of `common/vgpu/tests/programs` and all GPU references, compiled by each toolkit, on the virtual GPU.'
    echo 'A program counts as equal if it passes and its checksum is the one that CUDA 13.0 gives. References were'
    echo 'graded at 100 images.'
    echo
    echo '| CUDA | nvcc | ptxas | PTX | programs equal | references right | names in headers and library |'
    echo '|---|---|---|---|---|---|---|'
    for t in $toolkits; do
        [ -e "$work/$t/versions.tsv" ] || continue
        equal=$(awk -F'\t' 'FNR == NR {want[$1] = $2; next} $2 == want[$1] && $2 !~ / / {n++} END {print n + 0}' "$work/13.0/programs.tsv" "$work/$t/programs.tsv")
        right=$(awk -F'\t' '$2 == "pass" {n++} END {print n + 0}' "$work/$t/references.tsv")
        awk -F'\t' -v t="$t" -v p="$equal of $(grep -c . "$work/$t/programs.tsv")" -v r="$right of $(grep -c . "$work/$t/references.tsv")" \
            -v n="$(echo "$tables" | sed -n "s/^CUDA $t: //p")" '{printf "| %s | %s | %s | %s | %s | %s | %s |\n", t, $1, $2, $3, p, r, n}' "$work/$t/versions.tsv"
        for kind in programs references; do
            awk -F'\t' -v t="$t" 'FNR == NR {want[$1] = $2; next} $2 != want[$1] || $2 ~ / / {print t ": " $1 ": " $2 > "/dev/stderr"}' \
                "$work/13.0/$kind.tsv" "$work/$t/$kind.tsv"
        done
    done
    echo
    echo "The wheels of CUDA 12 have no nvcc. That of 12.4 is Debian 13's package; 12.6 and 12.9 were tried with it and with"
    echo 'their own headers, runtime library and ptxas. The programs that launch kernels from kernels were left out with CUDA'
    echo '12, whose wheel of 12.4 lacks libcudadevrt; so were those whose first lines state that they need a newer toolkit.'
}
write_page >"$work/page.md" 2>"$work/wrong"
cat "$work/page.md"
[ ! -s "$work/wrong" ] || { cat "$work/wrong"; bad=1; }
[ -z "$page" ] || cp "$work/page.md" "$page"
exit $bad
