// nvcc: -G
// The same without optimisation: each variable is in local memory.
#define DEBUG
#define NAME "unset_ignored_debug"
#include "vgpu/tests/programs/unset_ignored.cu"
