/* Puts a fat binary before nvcc's into the library. Its only entry looks right, but its PTX cannot
* be decompressed: a search of the file finds this entry first and cannot read it. */
#ifndef __CUDA_ARCH__
asm(".pushsection .nv_fatbin, \"a\"\n"
    ".align 8\n"
    /* header: magic, version 1 and its own 16 bytes, 64 + 16 bytes of the entry */
    ".long 0xba55ed50, 0x00100001, 80, 0\n"
    /* entry: kind PTX, its header's 64 bytes, the payload's 16, all compressed by zstd */
    ".long 0x01010001, 64, 16, 0, 16, 0, 9, 75, 0, 0, 0x8000, 0, 0, 0, 4096, 0\n"
    ".long -1, -1, -1, -1\n"
    ".popsection\n");
#endif

#include "plain.cuh"
