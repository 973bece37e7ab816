#!/bin/sh
# Tests the sandbox, a class, the students' archive and the archive for GPU machines with NVIDIA's compiler only from
# wheels, as make setup installs it.
#
#   CONVLAB_BUILD=build wheels.sh
#
# Part of make bare-check, and of make wheels-check, which hides an installed toolkit.
top=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$top" || exit 1
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
scratch_in=$build # on the toolkit's disk, for hard links
. "$top/common/mk/tests/claims.sh"
claims_in=apart

[ -x toolkit/cuda/bin/nvcc ] || common/mk/toolkit.sh || exit 2
right=$top/grader/tests/textbook/m2_flat.cu wrong=$scratch/wrong.cu
sed 's/acc += /acc -= /' "$right" >"$wrong"

# without FOLDER COMMAND: runs a shell command in the folder, without another toolkit on PATH or in variables.
without() {
    env -i PATH=/usr/sbin:/usr/bin:/bin HOME="$scratch/nobody" CONVLAB_INSTALLED_CUDA="$scratch/none" \
        ${CONVLAB_DATA:+CONVLAB_DATA="$CONVLAB_DATA"} sh -c "cd '$1' && $2"
}

is_found() {
    found=$(without "$1" 'common/mk/find-cuda.sh origin')
    echo "$found"
    echo "$found" | grep -q "^$1/toolkit/cuda	.*	from make setup$"
}

# Grades in the sandbox (if it works here), in which the compiler in the checkout's folder must be visible.
grades() { # SOURCE EXIT_STATUS FOLDER GRADER
    without "$3" "$4 m2 --source '$1' --quick --images 1 --report '$scratch/report'"
    status=$?
    [ $status -eq "$2" ] || { echo "exit status $status, expected $2"; return 1; }
}

class_is_graded() {
    mkdir -p "$scratch/in/right/m2-gpu-baseline" "$scratch/in/wrong/m2-gpu-baseline"
    cp "$right" "$scratch/in/right/m2-gpu-baseline/conv.cu"
    cp "$wrong" "$scratch/in/wrong/m2-gpu-baseline/conv.cu"
    sandbox=$("$build/grader" sandbox >/dev/null 2>&1 || echo --no-sandbox)
    without "$top" "'$build/grader' class '$scratch/in' --milestones m2 --gradebook '$scratch/book' --quick --images 1 $sandbox"
    sqlite3 -separator ' ' "$scratch/book" 'SELECT submission, status FROM grade ORDER BY submission' >"$scratch/grades"
    cat "$scratch/grades"
    printf 'right pass\nwrong fail\n' | diff - "$scratch/grades"
}

# Unpacks an archive and puts the compiler where the archive's make setup would (as hard links).
unpacked() { # KIND
    common/mk/pack.sh "$1" "$build" "$scratch/$1.tar.gz" >"$scratch/packed" 2>&1 || { cat "$scratch/packed"; return 1; }
    tar xzf "$scratch/$1.tar.gz" -C "$scratch"
    root=$scratch/convlab-$1
    [ ! -e "$root/toolkit" ] || { echo "the archive has a toolkit"; return 1; }
    cp -rl "$top/toolkit" "$root/toolkit"
    is_found "$root"
}

handout_grades() {
    unpacked handout || return 1
    cp "$right" "$root/labs/m2-gpu-baseline/conv.cu"
    without "$root" 'make setup' | grep -q "nvcc is installed: $root/toolkit/cuda/bin/nvcc" || return 1
    without "$root" 'make m2 && ./grader m2 --quick --images 1' || return 1
    cp "$wrong" "$root/labs/m2-gpu-baseline/conv.cu"
    without "$root" 'make m2' && ! without "$root" './grader m2 --quick --images 1'
}

# The benchmark, linked with the wheels' runtime, runs on the virtual GPU.
bundle_benchmarks() {
    unpacked bundle || return 1
    without "$root" "make build/gpubench reference-m2 &&
        build/vgpu-run build/gpubench --only one-layer --images 1 --out '$scratch/bench'"
}

claim 'the compiler from wheels is found' is_found "$top"
claim 'a right submission is compiled with it and passes' grades "$right" 0 "$top" "$build/grader"
claim 'a wrong submission fails' grades "$wrong" 1 "$top" "$build/grader"
claim 'a class is graded with it' class_is_graded
claim "the students' archive grades with it" handout_grades
claim 'the archive for GPU machines compiles its benchmark with it' bundle_benchmarks
claims_end
