/* Handlers for the instructions that every machine has; see handlers.inc and
 * common/mk/compile.mk. */
#define VG_TARGET base
#include "vgpu/exec/handlers.inc"
