"""PyCUDA compiles a kernel with nvcc, and its arrays have kernels of their own. (nvcc must write PTX where PyCUDA
expects machine code: see docs/virtual-gpu.md.)"""
import numpy as np
import pycuda.autoinit  # noqa: F401: makes the context
import pycuda.driver as driver
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void product(float *to, const float *a, const float *b)
{
    to[threadIdx.x] = a[threadIdx.x] * b[threadIdx.x];
}
"""


def main():
    product = SourceModule(SOURCE).get_function("product")
    a = np.arange(400, dtype=np.float32)
    b = a[::-1].copy()
    to = np.zeros_like(a)
    product(driver.Out(to), driver.In(a), driver.In(b), block=(400, 1, 1), grid=(1, 1))
    assert np.array_equal(to, a * b)
    x = gpuarray.to_gpu(a)
    assert np.array_equal((2 * x + 1).get(), 2 * a + 1)
    assert float(gpuarray.sum(x).get()) == a.sum()
    print("PASS pycuda_product")


main()
