#!/bin/sh
# Tests the suite for 64-bit Arm on another machine: Debian's cross-compiler builds it, qemu-user runs its tests.
#
#   arm64.sh root                       unpacks Debian's arm64 packages into build/arm64/root (apt; no root needed)
#   arm64.sh run PROGRAM...             runs tests built into build/arm64/build, grades m1 and GPU milestones on
#                                       the virtual GPU, and tests the students' archive
#
# `make arm64-check` does both, with the build between them. Programs that tests start are also Arm programs. They run
# in a user namespace with its own binfmt_misc, so that the kernel starts them with qemu; this needs Linux 6.7.
#
# It omits:
#     tests in the list below            under qemu-user they prove nothing, or take minutes
#     native code of the virtual GPU     LLVM would have to be built for both machines
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
base=$top/build/arm64
root=$base/root
cd "$top"

# PROGRAM <tab> Criterion pattern of the excluded tests <tab> reason
left_out() {
    cat <<'END'
common-base	process/missing_program_is_an_error	qemu-user reports that a program is missing only after posix_spawn() has returned
common-base	progress/a_terminal_gets_lines_and_is_left_clean	qemu-user aborts when a child process starts a thread
common-base	progress/nothing_else_gets_any	as above
common-base	threads/are_found_by_name_with_their_times	qemu-user invents the times in /proc/PID/stat
common-nn	models/reach_the_accuracies_of_expected_tsv	six minutes
grader-class	class_parts/large_sizes_on_the_cpu_need_memory_too	qemu-user does not apply a limit of memory
common-vprof	vprof/is_not_ended_by_a_reader_that_is_gone	the shell is not an Arm program: ld.so cannot preload for it, and complains into the closed pipe
common-vgpu-device	*	its processes forbid themselves system calls (seccomp), and with them those of qemu-user
END
}

# Uses Debian's archive as configured for apt on this machine, and an empty package list, so that apt finds all
# dependencies.
make_root() {
    packages="libc6-dev libgcc-s1 libgomp1 $(awk -F '\t' '$2 ~ /^header:/ && $3 ~ /^(build|test|extra)$/ {print $1}' common/mk/packages.tsv | tr '\n' ' ')"
    [ "$(cat "$root.packages" 2>/dev/null)" = "$packages" ] && return 0
    command -v apt-get >/dev/null || { echo 'arm64-check: no apt: the libraries for 64-bit Arm come from Debian' >&2; exit 2; }
    rm -rf "$root" "$base/apt"
    mkdir -p "$root" "$base/apt/lists/partial" "$base/apt/cache/archives/partial"
    : >"$base/apt/status"
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Component: main' "Codename: $suite" | head -n 1 | cut -d' ' -f1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main" >"$base/apt/sources.list"
    apt() {
        apt-get -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 -oDir::State="$base/apt" \
            -oDir::State::Lists="$base/apt/lists" -oDir::State::status="$base/apt/status" \
            -oDir::Etc::SourceList="$base/apt/sources.list" -oDir::Etc::SourceParts=/dev/null \
            -oDir::Cache="$base/apt/cache" -oAPT::Sandbox::User="$(id -un)" -oDebug::NoLocking=1 -qq "$@"
    }
    # shellcheck disable=SC2086
    { apt update && apt install -y --download-only --no-install-recommends $packages; } >"$base/apt/log" 2>&1 || {
        echo "arm64-check: apt cannot fetch the libraries for 64-bit Arm: $(grep -m 1 '^E:' "$base/apt/log")" >&2
        exit 2
    }
    for package in "$base"/apt/cache/archives/*.deb; do
        dpkg -x "$package" "$root"
    done
    rm -rf "$base/apt/cache"
    echo "$packages" >"$root.packages"
}

# The header of an Arm program, and a mask of its relevant bits.
register() {
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    header='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":arm64:M::$header:$mask:$(command -v qemu-aarch64):F" >/proc/sys/fs/binfmt_misc/register
}

run_one() { # PROGRAM
    name=${1##*/}
    pattern=$(left_out | awk -F '\t' -v name="$name" '$1 == name {printf "%s%s", or, $2; or = "|"}')
    left_out | awk -F '\t' -v name="$name" '$1 == name {printf "   left out: %s: %s\n", $2 == "*" ? "all" : $2, $3}'
    [ "$pattern" != '*' ] || return 0
    if "$1" ${pattern:+--filter "!($pattern)"} >"$1.log" 2>&1; then
        sed 's/\x1b\[[0-9;]*m//g' "$1.log" | grep Tested:
    else
        tail -n 40 "$1.log"
        return 1
    fi
}

# Grades a right and a wrong convolution. (Without the sandbox, in which qemu would be missing.)
grade() { # MILESTONE EXIT_STATUS LIBRARY
    "$CONVLAB_BUILD/grader" "$1" --lib "$3" --quick --images 10 --seed 1 --no-sandbox --report "$base/report" >"$base/graded.log" 2>&1 &&
        status=0 || status=$?
    grep '^Score' "$base/graded.log" || tail -n 5 "$base/graded.log"
    [ $status -eq "$2" ]
}

# A right and a wrong GPU program on the virtual GPU. nvcc compiles for another machine if it is given that machine's
# C++ compiler; the program is linked with our own runtime library.
gpu_lab() { # SOURCE LIBRARY
    cuda=$(common/mk/find-cuda.sh)
    "$cuda/bin/nvcc" -ccbin aarch64-linux-gnu-g++ -std=c++17 -O3 -lineinfo -Icommon -I"$cuda/include" -cudart none -shared \
        -Xcompiler -fPIC -arch=compute_75 "$1" -o "$2" -Xlinker "$CONVLAB_BUILD/vgpu/libcudart.so.13"
}

grade_gpu() {
    mkdir -p "$base/labs"
    right=grader/tests/textbook/m2_flat.cu
    sed 's/acc += /acc -= /' $right >"$base/labs/wrong.cu"
    gpu_lab $right "$base/labs/right.so" && gpu_lab "$base/labs/wrong.cu" "$base/labs/wrong.so" || return 1
    grade m2 0 "$base/labs/right.so" && grade m2 1 "$base/labs/wrong.so"
}

# The students' archive, unpacked: m1's skeleton builds and fails, its reference passes. (With the cross-compiler.)
archive() {
    rm -rf "$base/archive" && mkdir "$base/archive"
    tar xzf "$CONVLAB_BUILD/convlab-handout.tar.gz" -C "$base/archive"
    cd "$base/archive/convlab-handout"
    for folder in labs reference; do
        cp "$top/$folder/m1-cpu-conv/conv.c" labs/m1-cpu-conv/
        make -s m1 NO_SANDBOX=1 LAB_CFLAGS=-O3 CC="aarch64-linux-gnu-gcc --sysroot=$root" || return 1
        ./grader m1 --quick --images 10 --no-sandbox >"$base/graded.log" 2>&1 && status=0 || status=$?
        echo "$folder: exit status $status: $(grep '^Score' "$base/graded.log" || tail -n 5 "$base/graded.log")"
        [ $status = "$([ $folder = labs ] && echo 1 || echo 0)" ] || return 1
    done
    grep -q '(64-bit Arm)' README.md && build/vgpu-run --version
}

case ${1:-} in
root) make_root ;;
run)
    shift
    unshare --user --map-root-user --mount sh -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc' 2>/dev/null ||
        { echo 'arm64-check: no binfmt_misc in a user namespace (hint: Linux 6.7 or newer, and unprivileged user namespaces)' >&2; exit 2; }
    exec unshare --user --map-root-user --mount "$0" inside "$@"
    ;;
inside)
    shift
    register
    export QEMU_LD_PREFIX="$root" CONVLAB_BUILD="$top/build/arm64/build"
    failed=0
    for program; do
        echo "== ${program##*/}"
        run_one "$program" || failed=$((failed + 1))
    done
    for graded in "0 reference/m1" "1 mutants/weights_flipped"; do
        echo "== m1, graded: ${graded#* }"
        grade m1 "${graded%% *}" "$CONVLAB_BUILD/${graded#* }/libconv.so" || failed=$((failed + 1))
    done
    if [ -x "$(common/mk/find-cuda.sh)/bin/nvcc" ]; then
        echo '== m2, graded: right, wrong'
        grade_gpu || failed=$((failed + 1))
    else
        echo 'skipped: m2, graded: no nvcc'
    fi
    echo "== the students' archive"
    (archive) || failed=$((failed + 1))
    [ $failed -eq 0 ] || { echo "arm64-check: $failed failed" >&2; exit 1; }
    echo "arm64-check: all passed"
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
