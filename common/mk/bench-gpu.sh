#!/bin/sh
# Runs the GPU benchmark, or prints in one line why it is skipped.
#
#   bench-gpu.sh BUILD_FOLDER OUTPUT_FOLDER CUDA_HOME
build=$1 out=$2 cuda=$3

if [ ! -x "$build/gpubench" ]; then
    echo "bench-gpu: skipped: no nvcc in $cuda/bin (hint: run make setup, or name an installed toolkit: make CUDA_HOME=FOLDER)"
    exit 0
fi
if [ ! -e /dev/nvidiactl ]; then
    echo "bench-gpu: skipped: no NVIDIA GPU (hint: without a GPU, run build/vgpu-run build/gpubench)"
    exit 0
fi
mkdir -p "$out" || exit 2
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64
export LD_LIBRARY_PATH
"$build/gpubench" --out "$out" >"$out/bench.txt"
status=$?
cat "$out/bench.txt"
exit $status
