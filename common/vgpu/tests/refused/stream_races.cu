// Pairs of copies, fills and kernels in two streams that nothing orders. Each pair has a kernel of its own.
#include "vgpu/tests/check.cuh"

enum { N = 4096, BYTES = N * sizeof(float), BLOCK = 256 };

#define SCALE(name)                                                                                \
    __global__ void name(const float *in, float *out, int n)                                       \
    {                                                                                              \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
        if (i < n)                                                                                 \
            out[i] = in[i] * 2;                                                                    \
    }
SCALE(reads_early)
SCALE(stores_late)
SCALE(not_blocking)
SCALE(loses_input)
SCALE(overwrites)
SCALE(wrong_part)
SCALE(produces)
SCALE(consumes)
SCALE(first_writer)
SCALE(second_writer)
SCALE(reader)
SCALE(replaces)
SCALE(branch_writes)
SCALE(branch_reads)
SCALE(copied_part)
SCALE(freed)

int main()
{
    float *host, *a, *b, *c;
    cudaStream_t s, t;
    CHECK(cudaMallocHost(&host, BYTES));
    for (int i = 0; i < N; i++)
        host[i] = i + 1;
    CHECK(cudaMalloc(&a, BYTES));
    CHECK(cudaMalloc(&b, BYTES));
    CHECK(cudaMalloc(&c, BYTES));
    CHECK(cudaMemset(b, 0, BYTES));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpyAsync(a, host, BYTES, cudaMemcpyHostToDevice, s)); /* the kernel reads it */
    reads_early<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N);
    CHECK(cudaDeviceSynchronize());

    stores_late<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N); /* the copy reads its result */
    CHECK(cudaMemcpyAsync(host, b, BYTES, cudaMemcpyDeviceToHost, s));
    CHECK(cudaDeviceSynchronize());

    not_blocking<<<N / BLOCK, BLOCK, 0, t>>>(a, b,
                                             N); /* this copy waits only for blocking streams */
    CHECK(cudaMemcpy(host, b, BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());

    loses_input<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N); /* the copy overwrites its input */
    CHECK(cudaMemcpyAsync(a, host, BYTES, cudaMemcpyHostToDevice, s));
    CHECK(cudaDeviceSynchronize());

    CHECK(
        cudaMemcpyAsync(host, b, BYTES, cudaMemcpyDeviceToHost, s)); /* the kernel overwrites it */
    overwrites<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N);
    CHECK(cudaDeviceSynchronize());

    for (int part = 0; part < 4; part++) { /* the third part is in the wrong stream */
        const int at = part * N / 4;
        const cudaStream_t stream = part & 1 ? s : t;
        CHECK(cudaMemcpyAsync(a + at, host, BYTES / 4, cudaMemcpyHostToDevice, stream));
        wrong_part<<<N / 4 / BLOCK, BLOCK, 0, part == 2 ? s : stream>>>(a + at, b + at, N / 4);
    }
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemset(b, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    produces<<<N / BLOCK, BLOCK, 0, s>>>(a, b, N); /* a kernel reads what another stores */
    consumes<<<N / BLOCK, BLOCK, 0, t>>>(b, c, N);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemset(b, 0, BYTES)); /* two kernels store to it */
    CHECK(cudaDeviceSynchronize());
    first_writer<<<N / BLOCK, BLOCK, 0, s>>>(a, b, N);
    second_writer<<<1, BLOCK, 0, t>>>(a + BLOCK, b, BLOCK);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemset(b, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    reader<<<N / BLOCK, BLOCK, 0, s>>>(b, c, N); /* a kernel replaces what another reads */
    replaces<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemset(b, 0, BYTES)); /* both branches of a graph use b */
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    int n = N;
    void *to[] = {&a, &b, &n}, *from[] = {&b, &c, &n};
    cudaKernelNodeParams k = {(void *)branch_writes, N / BLOCK, BLOCK, 0, to, nullptr};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
    k.func = (void *)branch_reads;
    k.kernelParams = from;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemsetAsync(a, 0, BYTES, s)); /* both write the first half */
    CHECK(cudaMemcpyAsync(a, host, BYTES / 2, cudaMemcpyHostToDevice, t));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemset(b, 0, BYTES)); /* the copy reads a part of the kernel's result */
    CHECK(cudaDeviceSynchronize());
    copied_part<<<N / BLOCK, BLOCK, 0, t>>>(a, b, N);
    CHECK(cudaMemcpyAsync(c + 1, b + N / 4, 64, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaDeviceSynchronize());

    float *pooled; /* the kernel may still read it when another stream frees it */
    CHECK(cudaMallocAsync(&pooled, BYTES, s));
    CHECK(cudaMemsetAsync(pooled, 0, BYTES, s));
    CHECK(cudaStreamSynchronize(s));
    freed<<<N / BLOCK, BLOCK, 0, t>>>(pooled, c, N);
    CHECK(cudaFreeAsync(pooled, s));
    CHECK(cudaDeviceSynchronize());
}
