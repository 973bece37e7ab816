// Every atomic operation on global and shared memory, and its return value.
#include "vgpu/tests/check.cuh"

struct Results {
    int add, sub, min, max, exch, cas;
    unsigned inc, dec, and_, or_, xor_;
    unsigned long long add64, max64, cas64;
    float fadd;
    double dadd;
    int shared_add, shared_max;
};

__global__ void work(Results *r, int *tickets)
{
    __shared__ int sum, most;
    if (threadIdx.x == 0)
        sum = 0, most = -1;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    tickets[atomicAdd(&r->add, 1)] = 1;
    atomicSub(&r->sub, 2);
    atomicMin(&r->min, -t);
    atomicMax(&r->max, t);
    atomicExch(&r->exch, 42);
    atomicInc(&r->inc, 99);
    atomicDec(&r->dec, 50);
    atomicAnd(&r->and_, ~(1u << (t % 8)));
    atomicOr(&r->or_, 1u << (t % 32));
    atomicXor(&r->xor_, (unsigned)t);
    atomicAdd(&r->add64, 1ull << 33);
    atomicMax(&r->max64, (unsigned long long)t << 32);
    atomicAdd(&r->fadd, 0.25f);
    atomicAdd(&r->dadd, 0.5);
    int old = r->cas, seen;
    do {
        seen = old;
        old = atomicCAS(&r->cas, seen, seen + 3);
    } while (old != seen);
    atomicCAS(&r->cas64, (unsigned long long)t, t + 1ull);
    atomicAdd(&sum, t);
    atomicMax(&most, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&r->shared_add, sum);
        atomicAdd(&r->shared_max, most);
    }
}

int main()
{
    const int n = 256;
    Results start = {};
    start.dec = 20, start.and_ = 0xffff, start.cas64 = 1000000;
    Device<Results> d(std::vector<Results>{start});
    Device<int> tickets(n);
    tickets.zero();
    work<<<4, 64>>>(d, tickets);
    LAUNCHED();
    Results r = d.host()[0];
    bool ok = r.add == n && r.sub == -2 * n && r.min == -(n - 1) && r.max == n - 1;
    unsigned dec = 20, x = 0;
    for (int i = 0; i < n; i++) {
        dec = dec == 0 || dec > 50 ? 50 : dec - 1;
        x ^= (unsigned)i;
    }
    ok &= r.exch == 42 && r.inc == n % 100 && r.dec == dec && r.and_ == 0xff00;
    ok &= r.or_ == 0xffffffffu && r.xor_ == x && r.add64 == (unsigned long long)n << 33;
    ok &= r.max64 == (unsigned long long)(n - 1) << 32 && r.fadd == n / 4.f && r.dadd == n / 2.0;
    ok &= r.cas == 3 * n && r.cas64 == 1000000 && r.shared_add == n * (n - 1) / 2;
    ok &= r.shared_max == 4 * 63;
    for (int v : tickets.host())
        ok &= v == 1;
    return verdict("atomics", ok);
}
