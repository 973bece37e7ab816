#!/bin/sh
# Runs unmodified Python packages that use GPU kernels, from the Python package index, on the virtual GPU.
#
#   python.sh BUILD_FOLDER CUDA_FOLDER
build=$(realpath "$1") cuda=$2
here=$(realpath "$(dirname "$0")")
root=$build/python
passed=0 failed=0

python3 -m venv "$root" || exit 2
# PyCUDA is compiled; it can be linked only with the toolkit's stub of the driver.
PATH=$cuda/bin:$PATH CUDA_ROOT=$cuda LIBRARY_PATH=$cuda/lib64/stubs \
    "$root/bin/pip" install -q --disable-pip-version-check numpy==2.4.6 numba-cuda==0.30.4 pycuda==2026.1 \
    "cupy-cuda$(sed -n 's/^#define CUDA_VERSION \(..\).*/\1/p' "$cuda/include/cuda.h")x==14.2.0" || exit 2

# with the flags below, nvcc writes kernel.cubin into the current folder
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# check NAME EXPECTED_STATUS TEXT [ARGUMENT...]
check() {
    name=$1 status=$2 text=$3
    shift 3
    got=$(PATH=$cuda/bin:$PATH CUDA_PATH=$cuda CUPY_COMPILE_WITH_PTX=1 PYCUDA_DISABLE_CACHE=1 \
        NVCC_APPEND_FLAGS='--ptx -o kernel.cubin' PYTHONWARNINGS=ignore \
        timeout 300 "$build/vgpu-run" "$root/bin/python" "$here/$name.py" "$@" 2>&1)
    if [ $? -eq "$status" ] && printf '%s\n' "$got" | grep -q -- "$text"; then
        passed=$((passed + 1))
        echo "PASS $name $*"
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n%s\n' "$name $*" "$got" | tail -n 20
    fi
}

check numba_add 0 'PASS numba_add'
check numba_add 1 'access outside of an allocation' --beyond
check pycuda_product 0 'PASS pycuda_product'
check cupy_raw 0 'PASS cupy_raw'
printf '%s of %s programs with packages of Python passed\n' "$passed" $((passed + failed))
[ "$failed" -eq 0 ]
