// nvcc: -std=c++17 -arch=compute_80 -G
// The same without optimisation: each shuffle is in a function of its own.
#define NAME "padding_moved_debug"
#include "vgpu/tests/programs/padding_moved.cu"
