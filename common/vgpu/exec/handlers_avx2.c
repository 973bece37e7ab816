/* Handlers for the AVX2 instructions; see handlers.inc and common/mk/compile.mk. */
#define VG_TARGET avx2
#include "vgpu/exec/handlers.inc"
