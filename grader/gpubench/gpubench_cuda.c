#include "grader/gpubench/gpubench.h"

#include <cuda_runtime_api.h>

enum st_code bench_cuda(int error, const char *what, struct st_error *err)
{
    if (!error)
        return ST_OK;
    st_fail(err, ST_CHILD, "%s", what);
    st_detail(err, ST_GOT, "%s (%s)", cudaGetErrorName(error), cudaGetErrorString(error));
    return st_detail(err, ST_HINT, "does another program use the device or its memory?");
}
