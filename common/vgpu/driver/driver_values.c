/* Operations of streams on one value: writes, and waits. */
#include "vgpu/driver/driver.h"

enum { ALL_FLAGS = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH };

static cudaError_t write_value(CUstream stream, CUdeviceptr to, uint64_t value, size_t bytes)
{
    return to % bytes ? cudaErrorInvalidValue
                      : cudaMemcpyAsync(POINTER(to), &value, bytes, cudaMemcpyDefault, stream);
}

static bool has_come(uint64_t found, uint64_t value, size_t bytes, unsigned flags)
{
    const uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    switch (flags & CU_STREAM_WAIT_VALUE_NOR) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* modulo the size of the value */
        return !((found - value) >> (8 * bytes - 1) & 1);
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
    default:
        return (~(found | value) & mask) != 0;
    }
}

/* Streams run in the order of the calls, so a value that has not come yet will not come. */
static cudaError_t wait_value(CUstream stream, CUdeviceptr from, uint64_t value, size_t bytes,
                              unsigned flags)
{
    static bool said;
    uint64_t found = 0;
    if (from % bytes || flags & ~(unsigned)ALL_FLAGS)
        return cudaErrorInvalidValue;
    cudaError_t error = rt_request(VP_FENCE, "", 0); /* the value may order work of two streams */
    if (!error)
        error = cudaMemcpyAsync(&found, POINTER(from), bytes, cudaMemcpyDefault, stream);
    if (!error)
        error = cudaStreamSynchronize(stream);
    if (error || has_come(found, value, bytes, flags))
        return error;
    rt_say_once(&said,
                "cuStreamWaitValue: the value has not been written yet; the virtual GPU only "
                "supports waits after the call that writes the value");
    return cudaErrorNotSupported;
}

static cudaError_t run(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return wait_value(stream, p->waitValue.address, p->waitValue.value, 4, p->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return wait_value(stream, p->waitValue.address, p->waitValue.value64, 8,
                          p->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return write_value(stream, p->writeValue.address, p->writeValue.value, 4);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return write_value(stream, p->writeValue.address, p->writeValue.value64, 8);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

static cudaError_t run_all(CUstream stream, unsigned n, const CUstreamBatchMemOpParams *p)
{
    cudaError_t error = p || !n ? cudaSuccess : cudaErrorInvalidValue;
    for (unsigned i = 0; i < n && !error; i++)
        error = run(stream, &p[i]);
    return error;
}

DRIVER(cuStreamWriteValue32, (CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags),
       write_value(stream, to, value, 4))
DRIVER(cuStreamWriteValue64, (CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned flags),
       write_value(stream, to, value, 8))
DRIVER(cuStreamWaitValue32, (CUstream stream, CUdeviceptr from, cuuint32_t value, unsigned flags),
       wait_value(stream, from, value, 4, flags))
DRIVER(cuStreamWaitValue64, (CUstream stream, CUdeviceptr from, cuuint64_t value, unsigned flags),
       wait_value(stream, from, value, 8, flags))
DRIVER(cuStreamBatchMemOp,
       (CUstream stream, unsigned n, CUstreamBatchMemOpParams *p, unsigned flags),
       run_all(stream, n, p))
