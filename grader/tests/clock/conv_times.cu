/* Times labs' libraries layer by layer: the same program on a GPU and on the virtual one.
 *
 *   conv_times [--once] [--recorded] IMAGES[,IMAGES...] LIBRARY...
 *
 * Prints TSV: library (its folder's name), images, layer, ns: the median between two events around
 * conv_forward(), with an empty L2 cache; in m13, around conv_forward_host() and the wait for its
 * streams. The layers are those of the models in data/. Under a profiler the times are measured
 * without recording, and everything runs again for the record; with --recorded the recorded runs
 * are timed.
 */
#include "conv.h"
#include "trace/recorded.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "conv_times: %s: %s\n", #call, cudaGetErrorString(error_));            \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static const struct {
    const char *name;
    struct conv_shape shape;
} layers[] = {{"two-layer.1", {0, 12, 1, 70, 70, 5}},
              {"two-layer.2", {0, 24, 12, 33, 33, 5}},
              {"one-layer.1", {0, 50, 1, 28, 28, 5}}};

static void *workspace;
static size_t workspace_bytes;

void *conv_workspace(size_t bytes)
{
    if (bytes > workspace_bytes) {
        cudaFree(workspace);
        CHECK(cudaMalloc(&workspace, bytes));
        workspace_bytes = bytes;
    }
    return workspace;
}

static float *floats(size_t n)
{
    std::vector<float> host(n);
    unsigned state = 1;
    for (float &v : host)
        v = (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5f;
    float *device;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static std::string folder_of(const char *path)
{
    std::string p(path);
    size_t end = p.rfind('/');
    if (end == std::string::npos)
        return p;
    size_t begin = p.rfind('/', end - 1);
    return p.substr(begin == std::string::npos ? 0 : begin + 1,
                    end - (begin == std::string::npos ? 0 : begin + 1));
}

/* The same values in page-locked memory. */
static float *on_host(const float *device, size_t n)
{
    float *host;
    CHECK(cudaMallocHost(&host, n * sizeof(float)));
    CHECK(cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

static char *flush;
static const size_t flush_bytes = (size_t)256 << 20;

/* The median of several runs after one uncounted run. */
static float median_ns(const char *library, const struct conv_shape *s, const float *x,
                       const float *k, float *y, int repeats)
{
    static cudaEvent_t before, after;
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    auto conv = loaded ? (decltype(&conv_forward))dlsym(loaded, "conv_forward") : NULL;
    const bool is_host = loaded && !conv;
    if (is_host)
        conv = (decltype(&conv_forward))dlsym(loaded, "conv_forward_host");
    if (!conv) {
        fprintf(stderr, "conv_times: %s\n", dlerror());
        exit(2);
    }
    if (is_host) {
        x = on_host(x, (size_t)s->B * s->C * s->H * s->W);
        k = on_host(k, (size_t)s->M * s->C * s->K * s->K);
        y = on_host(y, (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1));
    }
    if (!before) {
        CHECK(cudaEventCreate(&before));
        CHECK(cudaEventCreate(&after));
    }
    std::vector<float> ns;
    for (int r = 0; r < repeats + (repeats > 1); r++) {
        CHECK(cudaMemsetAsync(flush, r, flush_bytes));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(before));
        const int returned = conv(s, x, k, y);
        if (is_host)
            CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(after));
        CHECK(cudaDeviceSynchronize());
        float ms;
        CHECK(cudaEventElapsedTime(&ms, before, after));
        if (returned) {
            fprintf(stderr, "conv_times: %s returned %d\n", library, returned);
            exit(2);
        }
        if (r || repeats == 1)
            ns.push_back(ms * 1e6f);
    }
    if (is_host) {
        CHECK(cudaFreeHost((void *)x));
        CHECK(cudaFreeHost((void *)k));
        CHECK(cudaFreeHost(y));
    }
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
}

int main(int argc, char **argv)
{
    int repeats = 9, first = 1;
    bool pauses = recorded_now();
    for (; argc > first && strncmp(argv[first], "--", 2) == 0; first++)
        if (strcmp(argv[first], "--once") == 0)
            repeats = 1;
        else if (strcmp(argv[first], "--recorded") == 0)
            pauses = false;
        else
            break;
    if (argc < first + 2 || argv[first][0] == '-') {
        fprintf(stderr, "conv_times: usage: conv_times [--once] [--recorded] IMAGES[,IMAGES...] "
                        "LIBRARY...\n");
        return 2;
    }
    CHECK(cudaMalloc(&flush, flush_bytes));
    printf("library\timages\tlayer\tns\n");
    for (char *images = strtok(argv[first], ","); images; images = strtok(NULL, ","))
        for (const auto &layer : layers) {
            struct conv_shape s = layer.shape;
            s.B = atoi(images);
            const size_t outputs = (size_t)(s.H - s.K + 1) * (s.W - s.K + 1);
            float *x = floats((size_t)s.B * s.C * s.H * s.W);
            float *k = floats((size_t)s.M * s.C * s.K * s.K);
            float *y;
            CHECK(cudaMalloc(&y, (size_t)s.B * s.M * outputs * sizeof(float)));
            for (int i = first + 1; i < argc; i++) {
                if (pauses) {
                    recorded_attach(0);
                    CHECK(cudaProfilerStop());
                }
                const float ns = median_ns(argv[i], &s, x, k, y, repeats);
                if (pauses) {
                    recorded_attach(1);
                    CHECK(cudaProfilerStart());
                    median_ns(argv[i], &s, x, k, y, repeats);
                }
                printf("%s\t%s\t%s\t%.0f\n", folder_of(argv[i]).c_str(), images, layer.name, ns);
                fflush(stdout);
            }
            CHECK(cudaFree(x));
            CHECK(cudaFree(k));
            CHECK(cudaFree(y));
        }
    return 0;
}
