/* Handlers for the AVX512 instructions; see handlers.inc and common/mk/compile.mk. */
#define VG_TARGET avx512
#include "vgpu/exec/handlers.inc"
