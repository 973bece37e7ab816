// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_75,code=sm_90
// Small kernels, each limited by one part of a GPU, with which the clock's model is fitted and
// tested. The program runs on real and virtual GPUs.
//
//   time_arithmetic.cuh  launches, arithmetic, chains of instructions
//   time_memory.cuh      global, constant and shared memory
//   time_exchanges.cuh   atomic operations, barriers, divergence
//   time_kernels.cuh     transpositions and products of matrices
//   time_blocks.cuh      uneven blocks, concurrent launches
#include "vgpu/tests/clock/time_arithmetic.cuh"
#include "vgpu/tests/clock/time_memory.cuh"
#include "vgpu/tests/clock/time_exchanges.cuh"
#include "vgpu/tests/clock/time_kernels.cuh"
#include "vgpu/tests/clock/time_blocks.cuh"

static void time_copies()
{
    if (!wanted("h2d") && !wanted("d2h") && !wanted("d2d") && !wanted("memset"))
        return;
    const size_t most = ((size_t)64 << 20) / quick;
    char *pageable = (char *)malloc(most), *pinned, *a = device<char>(most),
         *b = device<char>(most);
    CHECK(cudaMallocHost(&pinned, most));
    memset(pageable, 1, most);
    memset(pinned, 1, most);
    for (size_t bytes = 4; bytes <= most; bytes *= bytes == 4 ? 1024 : 16)
        for (int kind = 0; kind < 2; kind++) {
            char *host = kind ? pinned : pageable;
            std::string what = text("%g bytes, ", (double)bytes) + (kind ? "pinned" : "pageable");
            measure("h2d", what, [=] { cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice); });
            measure("d2h", what, [=] { cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost); });
        }
    for (size_t bytes = 4096; bytes <= most; bytes *= 16) {
        measure("d2d", text("%g bytes", (double)bytes),
                [=] { cudaMemcpyAsync(a, b, bytes, cudaMemcpyDeviceToDevice); });
        measure("memset", text("%g bytes", (double)bytes), [=] { cudaMemsetAsync(a, 0, bytes); });
    }
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    free(pageable);
}

static void print_device()
{
    static const struct {
        const char *name;
        cudaDeviceAttr attribute;
    } rows[] = {
        {"multiprocessors", cudaDevAttrMultiProcessorCount},
        {"clock, kHz", cudaDevAttrClockRate},
        {"memory clock, kHz", cudaDevAttrMemoryClockRate},
        {"memory bus, bits", cudaDevAttrGlobalMemoryBusWidth},
        {"L2, bytes", cudaDevAttrL2CacheSize},
        {"shared memory of a multiprocessor, bytes", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {"registers of a multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor}};
    for (const auto &row : rows) {
        int value;
        CHECK(cudaDeviceGetAttribute(&value, row.attribute, 0));
        printf("device\t%s\t%d\n", row.name, value);
    }
    size_t free, total;
    CHECK(cudaMemGetInfo(&free, &total));
    printf("device\tmemory, bytes\t%zu\n", total);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    std::vector<float> ones(4096, 1.0f);
    CHECK(cudaMemcpyToSymbol(table, ones.data(), sizeof table));
    if (wanted("device"))
        print_device();
    time_launches();
    time_arithmetic();
    time_straight();
    time_tiles();
    time_chains();
    time_streams();
    time_loads();
    time_overlaps();
    time_uneven();
    time_exchanges();
    time_kernels();
    time_copies();
    return 0;
}
