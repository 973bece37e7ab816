// nvcc: -cudart static
// device: gpu
// expect: kernel=32 copy_htod=32 copy_dtoh=32 cudaLaunchKernel=32 cudaStreamCreate=4 status=0
/* overlap.cu with the runtime linked into the program. */
#include "overlap.cu"
