// Measurement and output of the clock's programs.
//
//   PROGRAM [--once] [--quick] [PREFIX...]  --once: one run of each, after a warm-up
//                                           --quick: an eighth of the work; PREFIX: only names with
//                                           it
//
// Prints TSV: name, variant, ns (median between two events around one launch or copy); rows with
// the name "device" have attributes of the device instead.
#pragma once

#include "vgpu/tests/check.cuh"

#include <algorithm>
#include <functional>
#include <string>

static int repeats = 15, quick = 1, multiprocessors;
static std::vector<const char *> prefixes;
static cudaEvent_t before, after;
static char *flush; // larger than any L2 cache
static const size_t FLUSH_BYTES = (size_t)256 << 20;

// @return whether a measurement, or any with this prefix, was requested.
static bool wanted(const char *name)
{
    for (const char *prefix : prefixes)
        if (strncmp(name, prefix, std::min(strlen(name), strlen(prefix))) == 0)
            return true;
    return prefixes.empty();
}

// The name of a variant, made from a format and a number.
inline std::string text(const char *format, double value)
{
    char to[64];
    snprintf(to, sizeof to, format, value);
    return to;
}

// Allocates n elements on the device, which are zero.
template <class T> T *device(size_t n)
{
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

// Times one launch or copy; cold: its data is not in the L2 cache.
static void measure(const char *name, const std::string &variant, const std::function<void()> &work,
                    bool cold = false)
{
    if (!wanted(name))
        return;
    std::vector<float> ns;
    for (int i = 0; i <= repeats; i++) {
        if (cold)
            CHECK(cudaMemsetAsync(flush, 1, FLUSH_BYTES));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(before));
        work();
        CHECK(cudaEventRecord(after));
        CHECK(cudaGetLastError());
        CHECK(cudaEventSynchronize(after));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, before, after));
        ns.push_back(ms * 1e6f);
    }
    ns.erase(ns.begin()); // warm-up
    std::sort(ns.begin(), ns.end());
    printf("%s\t%s\t%.0f\n", name, variant.c_str(), ns[ns.size() / 2]);
    fflush(stdout);
}

// Reads the options, prepares the measurements, and prints the head of the table.
static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--once") == 0)
            repeats = 1;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = 8;
        else
            prefixes.push_back(argv[i]);
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    multiprocessors = properties.multiProcessorCount;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    CHECK(cudaMalloc(&flush, FLUSH_BYTES));
    printf("name\tvariant\tns\n");
}
