"""CuPy: a raw kernel, compiled by NVRTC, and a sum by CuPy's kernels. CuPy has NVIDIA's runtime in a library."""
import cupy as cp

SOURCE = r"""
extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
"""


def main():
    axpy = cp.RawKernel(SOURCE, "axpy")
    n = 1000
    x = cp.arange(n, dtype=cp.float32)
    y = cp.ones(n, dtype=cp.float32)
    axpy(((n + 127) // 128,), (128,), (cp.float32(2), x, y, cp.int32(n)))
    assert float(y[n - 1]) == 2 * (n - 1) + 1
    assert float(y.sum()) == n * n
    print("PASS cupy_raw")


main()
