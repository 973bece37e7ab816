// nvcc: -G
// The same without optimisation: each variable is in local memory.
#define NAME "structure_padding_debug"
#include "vgpu/tests/programs/structure_padding.cu"
