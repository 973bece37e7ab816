// nvcc: -arch=compute_75 -rdc=true
// Invalid launches in kernels: cudaGetLastError() in the thread reports the error, nothing runs,
// and the host sees no error.
#include "vgpu/tests/check.cuh"

__global__ void count(int *ran)
{
    atomicAdd(ran, 1);
}

__global__ void __launch_bounds__(64) small_blocks(int *ran)
{
    atomicAdd(ran, 1);
}

__global__ void sizes(int *ran, int *errors, int zero)
{
    count<<<1, 2048>>>(ran);
    errors[0] = cudaGetLastError();
    errors[1] = cudaGetLastError();
    count<<<zero, 32>>>(ran);
    errors[2] = cudaPeekAtLastError();
    errors[3] = cudaGetLastError();
    count<<<dim3(1, 70000), 32>>>(ran);
    errors[4] = cudaGetLastError();
    count<<<1, 32, 60000>>>(ran);
    errors[5] = cudaGetLastError();
    count<<<1, dim3(1, 1, 65)>>>(ran);
    errors[6] = cudaGetLastError();
    errors[7] = cudaMemcpyAsync(ran, errors, 4, cudaMemcpyHostToDevice, 0);
    errors[8] = cudaMemsetAsync(NULL, 0, 4, 0);
    void *p;
    errors[9] = cudaMalloc(&p, 0);
    errors[10] = cudaGetLastError();
    small_blocks<<<1, 65>>>(ran);
    errors[11] = cudaGetLastError();
    count<<<1, 1>>>(ran);
    errors[12] = cudaGetLastError();
}

// Every thread has its own last error.
__global__ void own(int *ran, int *errors)
{
    if (threadIdx.x % 2)
        count<<<1, 4096>>>(ran);
    __syncthreads();
    errors[threadIdx.x] = cudaGetLastError();
}

// Each level remains incomplete, and so occupies one of the slots for pending launches.
__global__ void deeper(int *levels, int depth, int *error)
{
    *levels = depth;
    deeper<<<1, 1>>>(levels, depth + 1, error);
    cudaError_t mine = cudaGetLastError();
    if (mine)
        *error = mine;
}

// Texts of errors, and of cudaSuccess.
__global__ void texts(char *to)
{
    const char *from[] = {cudaGetErrorString(cudaSuccess), cudaGetErrorName(cudaErrorInvalidValue),
                          cudaGetErrorString(cudaErrorMemoryAllocation)};
    for (int i = 0; i < 3; i++)
        for (const char *p = from[i]; *p; p++)
            *to++ = *p;
}

int main()
{
    Device<int> ran(1), errors(64);
    ran.zero();
    errors.zero();
    sizes<<<1, 1>>>(ran, errors, 0);
    LAUNCHED();
    const int want[] = {9, 0, 9, 9, 9, 9, 9, 21, 1, 1, 1, 9, 0};
    std::vector<int> got = errors.host(), all = got;
    bool ok = ran.host()[0] == 1;
    for (int i = 0; i < 13; i++) {
        if (got[i] != want[i])
            printf("error %d is %d, expected %d\n", i, got[i], want[i]);
        ok &= got[i] == want[i];
    }
    own<<<2, 64>>>(ran, errors);
    LAUNCHED();
    got = errors.host();
    for (int i = 0; i < 64; i++)
        ok &= got[i] == (i % 2 ? 9 : 0);
    ok &= ran.host()[0] == 1;
    all.insert(all.end(), got.begin(), got.end());

    errors.zero();
    deeper<<<1, 1>>>(ran, 0, errors);
    LAUNCHED();
    ok &= ran.host()[0] == 2048 && errors.host()[0] == cudaErrorLaunchPendingCountExceeded;
    if (!ok)
        printf("%d levels, error %d\n", ran.host()[0], errors.host()[0]);

    Device<char> text(200);
    text.zero();
    texts<<<1, 1>>>(text);
    LAUNCHED();
    ok &= strcmp(text.host().data(), "no errorcudaErrorInvalidValueout of memory") == 0;
    return verdict("child_errors", ok, all);
}
