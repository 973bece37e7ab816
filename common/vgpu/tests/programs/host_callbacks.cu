// Host functions in streams: they run after earlier work and before later work.
#include "vgpu/tests/check.cuh"

struct State {
    int *h;
    int seen, calls;
};

static void CUDART_CB look(void *data)
{
    State *s = (State *)data;
    s->seen = s->h[5];
    s->h[5] = 500;
    s->calls++;
}

static void CUDART_CB old_style(cudaStream_t, cudaError_t status, void *data)
{
    ((State *)data)->calls += status == cudaSuccess ? 10 : 1000;
}

__global__ void add(int *p, int v)
{
    p[threadIdx.x] += v;
}

int main()
{
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    State state = {};
    CHECK(cudaMallocHost(&state.h, 32 * sizeof(int)));
    Device<int> d(32);
    CHECK(cudaMemsetAsync(d, 0, 32 * sizeof(int), s));
    add<<<1, 32, 0, s>>>(d, 7);
    CHECK(cudaMemcpyAsync(state.h, d, 32 * sizeof(int), cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, look, &state));
    CHECK(cudaMemcpyAsync(d, state.h, 32 * sizeof(int), cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamAddCallback(s, old_style, &state, 0));
    add<<<1, 32, 0, s>>>(d, 1);
    CHECK(cudaStreamSynchronize(s));
    std::vector<int> out = d.host();
    bool ok = state.seen == 7 && state.calls == 11;
    for (int i = 0; i < 32; i++)
        ok &= out[i] == (i == 5 ? 501 : 8);
    CHECK(cudaFreeHost(state.h));
    return verdict("host_callbacks", ok, out);
}
