#!/bin/sh
# Runs the CUDA programs on the virtual GPU: programs in programs/ must pass without findings, programs in faults/ must
# have the finding that their source announces.
#
#   check.sh [BUILD_FOLDER [NAME...]]     (the default folder is CONVLAB_BUILD)
#
# In a source:  // vgpu: faults               findings are intended
#               // expect: out_of_bounds      on the line of the fault: its kind
build=${1:-${CONVLAB_BUILD:-build}}
[ $# -gt 0 ] && shift
here=$(dirname "$0")
. "$here/../../mk/tests/claims.sh"

pass() { # NAME [RESULT]
    passes
    echo "PASS $*"
}
fail() { # NAME REASON
    fails "$1: $2"
    sed 's/^/    /' "$scratch/out" "$scratch/err" | head -n 20
}

# judge NAME REASON: the test passes if the command before this one has succeeded; otherwise it fails for this reason.
judge() {
    if [ $? -eq 0 ]; then pass "$1"; else fail "$1" "$2"; fi
}

run() { # OPTION... PROGRAM
    timeout "${VGPU_TIMEOUT:-120}" "$build/vgpu-run" "$@" >"$scratch/out" 2>"$scratch/err"
}

wanted() { # NAME
    [ -z "$names" ] && return 0
    case " $names " in *" $1 "*) return 0 ;; esac
    return 1
}

names=$*
# run_test FOLDER SOURCE: runs the program of a source. @return 1 if it is not wanted, or is not built, which is a failure
run_test() {
    name=$(basename "$2" .cu)
    wanted "$name" || return 1
    program=$build/vgpu/tests/$1/$name
    rm -f "$scratch"/*
    run --faults "$scratch/faults.tsv" "$program"
    status=$?
    [ -x "$program" ] || { fail "$name" "not built"; return 1; }
}

for source in "$here"/programs/*.cu; do
    run_test programs "$source" || continue
    findings=$(tail -n +2 "$scratch/faults.tsv" 2>/dev/null | wc -l)
    if [ "$status" -ne 0 ]; then
        fail "$name" "exit status $status"
    elif [ "$findings" -gt 0 ] && ! grep -q '^// vgpu: faults' "$source"; then
        fail "$name" "$findings findings in a clean program: $(sed -n 2p "$scratch/faults.tsv")"
    else
        passes
        tail -n 1 "$scratch/out"
    fi
done

for source in "$here"/faults/*.cu; do
    run_test faults "$source" || continue
    # kind and line of each announced finding, and of each reported finding
    grep -n '// expect: ' "$source" | sed 's|^\([0-9]*\):.*// expect: *\([a-z_]*\).*|\2 \1|' |
        sort -u >"$scratch/want"
    cut -f 1,4 "$scratch/faults.tsv" 2>/dev/null | tail -n +2 | tr '\t' ' ' | sort -u >"$scratch/got"
    if ! cmp -s "$scratch/want" "$scratch/got"; then
        fail "$name" "expected $(tr '\n' ',' <"$scratch/want") got $(tr '\n' ',' <"$scratch/got")"
    elif [ "$status" -ne 0 ]; then
        fail "$name" "the program did not get the error that it expects"
    else
        pass "$name: $(tr '\n' ' ' <"$scratch/got")"
    fi
done
# Tests the functions of cuBLAS if the toolkit has its headers.
if [ -e "$build/tests/blas" ] && wanted blas; then
    run "$build/tests/blas" && [ ! -s "$scratch/err" ]
    judge blas 'wrong results or findings'
fi

# one_line NAME TEXT: expects exactly one line from the virtual GPU, with this text.
one_line() {
    if grep -q -- "$2" "$scratch/err" && [ "$(wc -l <"$scratch/err")" -eq 1 ]; then
        pass "$1: $(cut -c 1-200 "$scratch/err")"
    else
        fail "$1" "expected exactly one line, with the message"
    fi
}

# Programs that cannot run: each must print the reason in one line and fail.
refused() { # NAME PROGRAM TEXT
    wanted "$1" || return 0
    run "$2"
    status=$?
    if [ "$status" -eq 0 ] || [ "$status" -gt 2 ]; then fail "$1" "exit status $status"; else one_line "$1" "$3"; fi
}

# Kernels that cannot run: the launch must fail and report the reason in one line.
not_launched() { # NAME TEXT
    wanted "$1" || return 0
    if run "$build/vgpu/tests/refused/$1"; then
        one_line "$1" "$2"
    else
        fail "$1" "the program did not get the error that it expects"
    fi
}
not_launched im2col_copy 'im2col_copy.cu:9): cp.async.bulk.prefetch.tensor'
not_launched one_of_two_kernels 'one_of_two_kernels.cu:8): multimem.ld_reduce'
not_launched newer_architecture 'PTX for compute_100.*-arch=sm_90'
cuda=$("$here/../../mk/find-cuda.sh")
if [ -x "$cuda/bin/ptxas" ]; then
    not_launched too_many_registers 'do not fit the 65536 registers'
fi

# Right programs print the same results in any order of blocks and warps, or of streams.
same_in_order() { # TEST PROGRAM OPTION...
    wanted "$1" || return
    test=$1 program=$build/vgpu/tests/programs/$2
    shift 2
    plain=$("$build/vgpu-run" "$program" 2>"$scratch/err")
    ordered=$("$build/vgpu-run" "$@" "$program" 2>>"$scratch/err")
    echo "$plain, in another order $ordered" >"$scratch/out"
    [ -n "$plain" ] && [ "$plain" = "$ordered" ] && [ ! -s "$scratch/err" ]
    judge "$test" 'the result depends on the order'
}

for name in vector_add reduce_shared histogram; do
    same_in_order "seed_$name" "$name" --seed 11
done
for name in streams_events graphs graph_memory async_alloc host_callbacks pinned_mapped; do
    for order in first last turns; do
        same_in_order "${order}_$name" "$name" --stream-order "$order"
    done
done

# on_cores NAME TABLE PROGRAM REASON: the table is not empty, and does not depend on the number of cores.
on_cores() {
    wanted "$1" && [ -x "$build/vgpu/tests/$3" ] || return
    rm -f "$scratch"/*
    for cores in 1 2 3; do
        run --cores $cores "--$2" "$scratch/$cores" "$build/vgpu/tests/$3"
    done
    [ "$(wc -l <"$scratch/1")" -gt 1 ] && diff "$scratch/1" "$scratch/2" >"$scratch/out" && diff "$scratch/1" "$scratch/3" >"$scratch/out"
    judge "$1" "$4 on the number of cores"
}
# Counters must not depend on it even if blocks wait for each other; findings of races, even if any block may come first.
for name in coop_grid last_block scan_blocks reduce_shared child_launches child_errors clusters; do
    on_cores "cores_$name" counters "programs/$name" 'the counters depend'
done
on_cores cores_race_global_addition faults faults/race_global_addition 'the finding depends'

# One core runs the kernel, and another the host: each has to see the atomic operations of the other.
if wanted one_core_host_atomics && [ -x "$build/vgpu/tests/programs/host_atomics" ]; then
    for time in 1 2 3 4 5; do
        run --cores 1 "$build/vgpu/tests/programs/host_atomics" || break
    done
    judge one_core_host_atomics 'additions were lost'
fi

# Neither the program's output nor any table may depend on the engine. (Tested on one core, because the time that a
# block waits for a lock of a block on another core varies.)
for name in coop_grid last_block spin_lock divergence atomics additions matmul_tiled reduce_shuffle recursion \
    half_arithmetic async_copy textures child_launches child_recursion clusters structure_padding; do
    wanted "engines_$name" || continue
    program=$build/vgpu/tests/programs/$name
    [ -x "$program" ] || continue
    rm -f "$scratch"/*
    for engine in interpreter native; do
        at=$scratch/$engine
        "$build/vgpu-run" --engine $engine --cores 1 --faults "$at.faults" --counters "$at.counters" --trace "$at.trace" \
            --work "$at.work" "$program" >"$at.out" 2>"$at.err"
    done
    different=
    for table in out err faults counters trace work; do
        cmp -s "$scratch/interpreter.$table" "$scratch/native.$table" || different="$different $table"
    done
    : >"$scratch/out" >"$scratch/err"
    [ -s "$scratch/native.trace" ] && [ -z "$different" ]
    judge "engines_$name" "the engines differ:$different"
done

# Without the translator's library, the interpreter executes all code; if native code was requested, one line reports
# this.
if wanted no_native_code; then
    rm -rf "$scratch"/*
    mkdir -p "$scratch/build/vgpu"
    cp "$build/vgpu-run" "$build/vgpu-device" "$scratch/build/"
    cp -r "$build/vgpu/profiles" "$build/vgpu/libcudart.so.13" "$scratch/build/vgpu/"
    for engine in auto interpreter native; do
        "$scratch/build/vgpu-run" --engine $engine "$build/vgpu/tests/programs/vector_add" \
            >>"$scratch/out" 2>"$scratch/$engine" || echo "exit status $? with $engine" >>"$scratch/out"
    done
    if [ "$(sort -u "$scratch/out" | wc -l)" -eq 1 ] && [ ! -s "$scratch/auto" ] && [ ! -s "$scratch/interpreter" ] &&
        [ "$(wc -l <"$scratch/native")" -eq 1 ] && grep -q 'its library was not built' "$scratch/native"; then
        pass no_native_code
    else
        cat "$scratch/auto" "$scratch/interpreter" "$scratch/native" >"$scratch/err"
        fail no_native_code "more or less than one line, or another result"
    fi
    rm -rf "$scratch/build"
fi

vector_add=$here/programs/vector_add.cu
nvcc=${NVCC:-$cuda/bin/nvcc}
if [ -x "$nvcc" ]; then
    rm -f "$scratch"/*
    "$nvcc" -std=c++17 -I"$here/../.." -arch=compute_75 "$vector_add" -o "$scratch/static"
    strip "$scratch/static" -o "$scratch/stripped"
    refused stripped_runtime "$scratch/stripped" 'nvcc -cudart shared'
    # ... in a program that vgpu-run starts, in a program that a script starts, and in a library that is loaded later.
    printf 'int run(void);\nint main(void) { return run(); }\n' >"$scratch/main.c"
    sed 's/int main()/extern "C" int run(void)/' "$vector_add" >"$scratch/library.cu"
    "$nvcc" -std=c++17 -I"$here/../.." -arch=compute_75 -shared -Xcompiler -fPIC "$scratch/library.cu" -o "$scratch/libadd.so"
    ${CC:-cc} "$scratch/main.c" -L"$scratch" -ladd -Wl,-rpath,"$scratch" -o "$scratch/with_library"
    cat >"$scratch/loads.c" <<'EOF'
#include <dlfcn.h>
int main(int n, char **path)
{
    void *library = dlopen(path[n - 1], RTLD_NOW);
    int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : 0;
    return run ? run() : 9;
}
EOF
    ${CC:-cc} "$scratch/loads.c" -o "$scratch/loads" -ldl
    : >"$scratch/err"
    for run in "$scratch/static" "sh -c $scratch/static" "$scratch/with_library" "$scratch/loads $scratch/libadd.so"; do
        "$build/vgpu-run" $run 2>&1
    done >"$scratch/all"
    cp "$scratch/all" "$scratch/out"
    [ "$(uniq -c "$scratch/all" | sed 's/^ *//')" = "4 $("$build/vgpu-run" "$build/vgpu/tests/programs/vector_add")" ]
    judge own_runtime "with NVIDIA's runtime inside the program or a library: another result than with the shared one"
    "$nvcc" -std=c++17 -I"$here/../.." -gencode arch=compute_75,code=sm_75 -cudart shared \
        "$vector_add" -o "$scratch/sass"
    refused machine_code_only "$scratch/sass" 'machine code for sm_75 only'
    cp "$build/vgpu/tests/programs/vector_add" "$scratch/damaged"
    at=$(LC_ALL=C grep -abo "$(printf '\050\265\057\375')" "$scratch/damaged" | head -n 1 | cut -d: -f1)
    printf 'XXXX' | dd of="$scratch/damaged" bs=1 seek="$at" conv=notrunc 2>/dev/null
    refused damaged_gpu_code "$scratch/damaged" 'damaged: zstd cannot decompress'
fi

# The usual features of a checking tool: a chosen exit status, a log, suppressions, leaks, a man page.
same() { # NAME WHAT GOT WANTED
    [ "$3" = "$4" ] && return 0
    fail "$1" "$2: $3, expected $4"
    return 1
}
tool() { # NAME WANTED_STATUS OPTION... PROGRAM
    tool_name=$1 tool_wanted=$2
    shift 2
    "$build/vgpu-run" "$@" >"$scratch/out" 2>"$scratch/err"
    same "$tool_name" "exit status of vgpu-run $*" $? "$tool_wanted"
}
race=$build/vgpu/tests/faults/race_read_after_write
clean=$build/vgpu/tests/programs/vector_add
if wanted error_exitcode; then
    tool error_exitcode 0 "$race" && tool error_exitcode 42 --error-exitcode=42 "$race" &&
        tool error_exitcode 0 --error-exitcode=42 "$clean" &&
        tool error_exitcode 0 --error-exitcode=42 "$build/vgpu/tests/faults/store_order" &&
        same error_exitcode 'notes' "$(grep -c 'virtual GPU: note' "$scratch/err")" 2 &&
        tool error_exitcode 7 --error-exitcode=42 sh -c "'$clean' && exit 7" &&
        tool error_exitcode 42 --error-exitcode=42 sh -c "'$race'; exit 7" &&
        pass error_exitcode
fi
if wanted log_file; then
    tool log_file 0 --log-file="$scratch/log.%p" "$race" && same log_file 'bytes on stderr' "$(wc -c <"$scratch/err")" 0 &&
        same log_file 'findings in the log' "$(cat "$scratch"/log.[0-9]* | grep -c 'race in shared memory')" 1 &&
        tool log_file 2 --log-file="$scratch/none/log" "$clean" &&
        pass log_file
    rm -f "$scratch"/log.*
fi
if wanted suppressions; then
    printf '# known\n\nrace_* no_such_kernel\nrace_raw * %s:11\n' 'race_read_after_w*.cu' >"$scratch/rules"
    printf 'race_raw * race_read_after_write.cu:12\nrace_war *\n' >"$scratch/others"
    printf 'race_raw *\nrace_ray *\n' >"$scratch/wrong"
    tool suppressions 0 --error-exitcode=42 --suppressions="$scratch/rules" --faults="$scratch/faults" "$race" &&
        same suppressions 'bytes on stderr' "$(wc -c <"$scratch/err")" 0 &&
        same suppressions 'lines of the table' "$(wc -l <"$scratch/faults")" 1 &&
        tool suppressions 42 --error-exitcode=42 --suppressions="$scratch/others" "$race" &&
        tool suppressions 2 --suppressions="$scratch/wrong" "$clean" &&
        same suppressions 'message' "$(grep -c "$scratch/wrong:2" "$scratch/err")" 1 &&
        pass suppressions
fi
if wanted leak_check; then
    leaks=$build/vgpu/tests/programs/never_freed
    tool leak_check 0 --error-exitcode=42 "$leaks" && same leak_check 'bytes on stderr' "$(wc -c <"$scratch/err")" 0 &&
        tool leak_check 0 --leak-check --error-exitcode=42 "$clean" &&
        tool leak_check 42 --leak-check --error-exitcode=42 "$leaks" &&
        same leak_check 'leaks' "$(grep -c -e '1300 bytes in 2 allocations' -e '#1: 1000 bytes of device' \
            -e '#3: 300 bytes of page-locked' "$scratch/err")" 3 &&
        tool leak_check 42 --leak-check --error-exitcode=42 "$build/vgpu/tests/faults/range_uninitialised" &&
        same leak_check 'leaks of ranges' "$(grep -c -e 'range of 4194304 bytes .* cuMemAddressFree' \
            -e 'handle .* of 2097152 bytes' "$scratch/err")" 2 &&
        pass leak_check
fi
# One page per kernel, small, and independent of the number of cores.
if wanted picture; then
    rm -f "$scratch"/*
    tool picture 0 --cores 1 --picture "$scratch/one.html" "$clean" &&
        tool picture 0 --cores 2 --engine native --picture "$scratch/two.html" "$clean" &&
        same picture 'the page with 2 cores' "$(sed 's/two\(-[0-9]*\)*[.]html/one\1.html/g' "$scratch/two.html" | cksum)" "$(cksum <"$scratch/one.html")" &&
        same picture 'pages of 1 MB or more' "$(find "$scratch" -name '*.html' -size +999k)" "" &&
        same picture 'named pages' "$(grep -c 'vgpu-run: wrote .*two.html' "$scratch/err")" 1 &&
        same picture 'recordings in the page' "$(grep -c '"steps":\[\[' "$scratch/one.html")" 1 &&
        pass picture
fi
# Mistakes with addresses outside of kernels: one line each, and the program ends as without the virtual GPU.
if wanted wrong_memory; then
    "$build/vgpu-run" "$build/vgpu/tests/refused/wrong_memory" >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ "$status" -ne 139 ]; then
        fail wrong_memory "exit status $status, expected 139"
    elif ! grep -q 'cudaMemcpyToSymbol: 32 bytes .* not in device memory (hint: is this a host pointer' "$scratch/err" ||
        ! grep -q 'the host accesses device memory at 0x' "$scratch/err"; then
        fail wrong_memory 'expected a line for each mistake'
    else
        pass wrong_memory
    fi
fi

# Work in two streams that nothing orders: each pair is a finding; vgpu-run's default order hides their effects.
if wanted stream_races; then
    run --faults "$scratch/faults.tsv" "$build/vgpu/tests/refused/stream_races"
    status=$?
    kernels=$(sed -n 's/^race_stream\t\([^\t]*\)\t.*/\1/p' "$scratch/faults.tsv" | tr '\n' ' ')
    if [ "$status" -ne 0 ] || [ "$(wc -l <"$scratch/faults.tsv")" -ne 14 ]; then
        fail stream_races "exit status $status, expected a finding for each of 13 pairs"
    else
        same stream_races 'kernels' "$kernels" 'reads_early stores_late not_blocking loses_input overwrites wrong_part consumes second_writer replaces branch_reads cudaMemcpyAsync copied_part freed ' &&
            pass stream_races
    fi
fi

# The host changes the source of an asynchronous copy: one line, and the program continues.
if wanted changed_source; then
    "$build/vgpu-run" "$build/vgpu/tests/refused/changed_source" >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ "$status" -ne 0 ]; then
        fail changed_source "exit status $status"
    elif [ "$(wc -l <"$scratch/err")" -ne 1 ] || ! grep -q 'the host changed the page-locked memory at 0x.* before cudaMemcpyAsync' "$scratch/err"; then
        fail changed_source 'expected one line about the source'
    else
        pass changed_source
    fi
fi

# A program that a signal ends while its kernel runs: vgpu-run reports what the kernel found before, and where it was. A
# thread that waits is then not reported.
if wanted ended_early; then
    "$build/vgpu-run" --faults "$scratch/faults" "$build/vgpu/tests/refused/ended_early" race >"$scratch/out" 2>"$scratch/err"
    status=$?
    "$build/vgpu-run" --faults "$scratch/none" "$build/vgpu/tests/refused/ended_early" >>"$scratch/out" 2>"$scratch/right"
    [ "$status" -eq 130 ] && cut -f 1 "$scratch/faults" | grep -q "^race_raw$" &&
        grep -q 'race in shared memory' "$scratch/err" &&
        grep -q 'ended while run_on was running in the loop at .*ended_early.cu:' "$scratch/err" &&
        [ "$(wc -l <"$scratch/none")" -eq 1 ] && [ "$(wc -l <"$scratch/right")" -eq 1 ]
    judge ended_early 'expected the race of the first run, and none in the second'
fi

# A library that needs the driver, like NVIDIA's, in a program that ignores errors; then the program without this
# library. One line reports each case, with the name of the missing library.
if wanted needs_driver; then
    rm -f "$scratch"/*
    cat >"$scratch/blas.c" <<'EOF'
#include <dlfcn.h>
int blas_create(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*tables)(const void **, const void *) =
        driver ? (int (*)(const void **, const void *))dlsym(driver, "cuGetExportTable") : 0;
    const void *table;
    return tables ? tables(&table, 0) : 1;
}
EOF
    printf 'int blas_create(void);\nint main(void) { blas_create(); return blas_create() == 801 ? 0 : 1; }\n' \
        >"$scratch/program.c"
    ${CC:-cc} -shared -fPIC "$scratch/blas.c" -o "$scratch/libblas_of_test.so" -ldl &&
        ${CC:-cc} "$scratch/program.c" -L"$scratch" -lblas_of_test -Wl,-rpath,"$scratch" -o "$scratch/program"
    "$build/vgpu-run" "$scratch/program" >"$scratch/out" 2>"$scratch/err"
    status=$?
    rm -f "$scratch/libblas_of_test.so"
    "$build/vgpu-run" "$scratch/program" >>"$scratch/out" 2>"$scratch/missing"
    if [ "$status" -ne 0 ]; then
        fail needs_driver "exit status $status"
    elif [ "$(wc -l <"$scratch/err")" -ne 1 ] || ! grep -q 'libblas_of_test.so needs .*libcuda.so.1' "$scratch/err"; then
        fail needs_driver "no line about the driver, or more than one"
    elif [ "$(wc -l <"$scratch/missing")" -ne 1 ] || ! grep -q 'libblas_of_test.so' "$scratch/missing"; then
        cp "$scratch/missing" "$scratch/err"
        fail needs_driver "no line about the library, or more than one"
    else
        pass needs_driver
    fi
fi

claims_end && [ "$good" -gt 0 ]
