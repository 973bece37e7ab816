// Green contexts: a part of the multiprocessors, with streams of its own.
#include "vgpu/tests/driver.cuh"

__global__ void squares(int *p)
{
    p[threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main()
{
    CHECK(cudaFree(0));
    CUdevResource all, rest, groups[3], got;
    CUdevResourceDesc description;
    CUgreenCtx green, found;
    CUcontext context, popped;
    CUstream stream;
    DO(cuDeviceGetDevResource, 0, &all, CU_DEV_RESOURCE_TYPE_SM);
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(all.sm.smCount == (unsigned)sms);
    unsigned n = 3, most = 0;
    DO(cuDevSmResourceSplitByCount, groups, &n, &all, &rest, 0, 10);
    EXPECT(n == 3 && groups[2].sm.smCount >= 10 && groups[2].sm.smCount <= 16);
    EXPECT(rest.sm.smCount == all.sm.smCount - 3 * groups[0].sm.smCount);
    DO(cuDevSmResourceSplitByCount, nullptr, &most, &all, nullptr, 0, 10);
    EXPECT(most == all.sm.smCount / groups[0].sm.smCount);
    EXPECT(RESULT(cuDevSmResourceSplitByCount, groups, &n, &all, nullptr, 0, 100000) ==
           CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    DO(cuDevResourceGenerateDesc, &description, groups, 2);
    DO(cuGreenCtxCreate, &green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
    DO(cuGreenCtxGetDevResource, green, &got, CU_DEV_RESOURCE_TYPE_SM);
    EXPECT(got.sm.smCount == 2 * groups[0].sm.smCount);
    DO(cuCtxFromGreenCtx, &context, green);
    DO(cuCtxPushCurrent, context);
    DO(cuGreenCtxStreamCreate, &stream, green, CU_STREAM_NON_BLOCKING, 0);
    DO(cuStreamGetGreenCtx, stream, &found);
    EXPECT(found == green);
    DO(cuStreamGetGreenCtx, 0, &found); // the current context's default stream
    EXPECT(found == green);
    Device<int> d(64);
    squares<<<1, 64, 0, stream>>>(d);
    DO(cuStreamSynchronize, stream);
    const std::vector<int> got_squares = d.host();
    DO(cuStreamDestroy, stream);
    DO(cuCtxPopCurrent, &popped);
    EXPECT(popped == context);
    DO(cuStreamGetGreenCtx, 0, &found);
    EXPECT(found == nullptr);
    DO(cuGreenCtxDestroy, green);
    bool ok = true;
    for (int i = 0; i < 64; i++)
        ok &= got_squares[i] == i * i;
    return verdict("green_contexts", ok, got_squares);
}
