// Shared by the CUDA test programs: checked calls, reproducible inputs, the verdict.
//
// A program prints one line, "PASS name checksum" or "FAIL name: why", and returns 0 or 1. The
// checksum covers results that IEEE arithmetic determines, so that two devices can be compared bit
// for bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Checks that a launch was accepted and ran.
#define LAUNCHED()                                                                                 \
    do {                                                                                           \
        CHECK(cudaGetLastError());                                                                 \
        CHECK(cudaDeviceSynchronize());                                                            \
    } while (0)

// A small random generator with equal numbers on all machines.
struct Random {
    uint32_t state;
    explicit Random(uint32_t seed) : state(seed * 2654435761u + 1)
    {
    }
    uint32_t bits()
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    int below(int n)
    {
        return (int)(bits() % (uint32_t)n);
    }
    // A multiple of 1/64 in [-1, 1): sums of products of these are exact in float.
    float exact()
    {
        return (float)((int)(bits() >> 25) - 64) / 64;
    }
    float unit()
    {
        return (float)(bits() >> 8) / (1 << 24);
    }
};

// An array on the device, filled from the host.
template <class T> struct Device {
    T *p = nullptr;
    size_t n;
    explicit Device(size_t n_) : n(n_)
    {
        CHECK(cudaMalloc(&p, (n ? n : 1) * sizeof(T)));
    }
    explicit Device(const std::vector<T> &from) : Device(from.size())
    {
        CHECK(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Device()
    {
        cudaFree(p);
    }
    Device(const Device &) = delete;
    void zero()
    {
        CHECK(cudaMemset(p, 0, n * sizeof(T)));
    }
    std::vector<T> host() const
    {
        std::vector<T> to(n);
        CHECK(cudaMemcpy(to.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
    operator T *()
    {
        return p;
    }
};

// FNV-1a over bytes.
static inline uint64_t checksum(const void *data, size_t bytes)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return h;
}

template <class T> static int verdict(const char *name, bool ok, const std::vector<T> &exact)
{
    if (ok)
        printf("PASS %s %016llx\n", name,
               (unsigned long long)checksum(exact.data(), exact.size() * sizeof(T)));
    else
        printf("FAIL %s: wrong results\n", name);
    return ok ? 0 : 1;
}

static inline int verdict(const char *name, bool ok)
{
    printf(ok ? "PASS %s\n" : "FAIL %s: wrong results\n", name);
    return ok ? 0 : 1;
}

static inline bool close(double got, double want, double relative)
{
    return std::fabs(got - want) <= relative * (std::fabs(want) + 1e-30) || got == want;
}
