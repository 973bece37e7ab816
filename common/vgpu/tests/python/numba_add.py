"""Numba compiles a kernel to PTX, and the driver's linker loads it."""
import sys

import numpy as np
from numba import cuda


@cuda.jit
def add(a, b, n):
    i = cuda.grid(1)
    if i < n:
        a[i] += 2 * b[i]


def main():
    beyond = 300 if "--beyond" in sys.argv else 0  # with a wrong size, which the virtual GPU must find
    a = np.arange(1000, dtype=np.float32)
    b = np.ones(1000, dtype=np.float32)
    on_device = cuda.to_device(a)
    add[(a.size + beyond + 127) // 128, 128](on_device, cuda.to_device(b), a.size + beyond)
    assert np.array_equal(on_device.copy_to_host(), a + 2)
    print("PASS numba_add")


main()
