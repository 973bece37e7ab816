/* Runs one convolution on a device.
 *
 * 1. Every run gets three new allocations of exactly the tensors' sizes: on the virtual GPU, the
 *    first byte after each is out of bounds, and no run finds data of an earlier run. A lab that
 *    makes its own copies gets page-locked host memory instead, which the host fills and reads
 *    without using the device.
 * 2. For a grader, the poisoned y is also copied to the device, so that unwritten elements are
 *    found, and x and k are copied back, so that changes to them are found.
 * 3. For a grader on a real GPU, the tensors are evicted from the L2 cache, where the copies have
 *    put them.
 * 4. The clock runs between two device-wide synchronisations: work on any stream counts.
 * 5. The first run of a kernel takes longest. A grader makes some runs before those that count;
 *    without a grader, the first run on a real GPU is not reported.
 * 6. Under a profiler, these runs are not recorded, and the profile shows one more run with the
 *    same tensors. A trial before them is also recorded, so that a crash is visible.
 * 7. Outside a grading, the copies are also timed: Layer Time is the time of the copies and the op,
 *    without the allocations.
 * 8. Every call's error is checked. The first error ends the run: after an address fault, all later
 *    calls fail with this error, which would hide its origin. */
#include "runner/gpu.h"

#include "base/clock.h"
#include "nn/oracle.h"
#include "trace/recorded.h"
#include "runner/cuda_api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_api api;
static void *event[4]; /* around the op, and around the layer */
static unsigned char uuid[16];

/* Memory for conv_workspace() of a GPU milestone. Returns NULL on failure, and clears the error,
 * which the lab's own calls must not see. */
static void *device_alloc(size_t bytes)
{
    void *device = NULL;
    if (api.cudaMalloc(&device, bytes) == 0)
        return device;
    api.cudaGetLastError();
    return NULL;
}

static void device_free(void *device)
{
    api.cudaFree(device);
}

/* Scratch memory must not contain data of the previous run: on the virtual GPU it is allocated
 * again, and so counts as unwritten; on a real GPU it is filled with NaN. */
static void *device_renew(void *device, size_t bytes)
{
    device_free(device);
    return device_alloc(bytes);
}

static void *device_fill(void *device, size_t bytes)
{
    api.cudaMemset(device, 0xff, bytes);
    return device;
}

enum st_code gpu_open(const char *lab, char *name, size_t room, struct st_error *err)
{
    /* Otherwise a kernel would be loaded at its first launch: this takes longer than many
     * convolutions and would be timed. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    enum st_code code = cuda_api_load(&api, lab, err);
    if (code)
        return code;
    int count = 0, error = api.cudaGetDeviceCount(&count);
    if (!error && count == 0)
        error = 100; /* cudaErrorNoDevice */
    /* cudaDeviceProp begins with the name (256 bytes) and the UUID; in CUDA 12 it has 1032
     * bytes. */
    char properties[4096] = "";
    if (!error)
        error = api.cudaGetDeviceProperties(properties, 0);
    snprintf(name, room, "%.255s", properties);
    memcpy(uuid, properties + 256, sizeof uuid);
    for (size_t i = 0; i < sizeof event / sizeof *event && !error; i++)
        error = api.cudaEventCreate(&event[i]);
    if (error) {
        st_fail(err, ST_MISSING_TOOL, "no GPU is available");
        st_detail(err, ST_GOT, "%s", api.cudaGetErrorName(error));
        return st_detail(err, ST_HINT, "use --device virtual");
    }
    lab_workspace_use(device_alloc, device_free);
    return ST_OK;
}

void gpu_id(char to[GPU_ID_CHARS])
{
    size_t used = (size_t)sprintf(to, "GPU");
    for (size_t i = 0; i < sizeof uuid; i++) /* 4, 2, 2, 2 and 6 bytes */
        used += (size_t)sprintf(to + used, "%s%02x",
                                i == 0 || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "", uuid[i]);
}

/* Fills more memory than any L2 cache holds, after resetting the part of the cache that a lab may
 * have reserved for persisting data. Too little memory is not an error. */
static void flush_l2(void)
{
    enum { BYTES = 256 << 20 };
    static void *memory;
    static bool tried;
    if (!tried && api.cudaMalloc(&memory, BYTES) != 0) {
        memory = NULL;
        api.cudaGetLastError();
    }
    tried = true;
    if (api.cudaDeviceSetLimit(CUDA_LIMIT_PERSISTING_L2, 0) || api.cudaCtxResetPersistingL2Cache())
        api.cudaGetLastError(); /* clears the error of GPUs without this feature */
    if (memory)
        api.cudaMemset(memory, 0, BYTES);
}

/* Keeps the first error and where it occurred. @return whether no error has occurred so far. */
static int good(struct gpu_result *result, int error, const char *when)
{
    if (error && !result->error) {
        result->error = error;
        snprintf(result->error_text, sizeof result->error_text, "%s (%s) %s",
                 api.cudaGetErrorName(error), api.cudaGetErrorString(error), when);
    }
    return !result->error;
}

/* The error of the lab's launches and calls. Failed allocations do not count: the lab may do
 * without them. */
static int last_error(void)
{
    const int error = api.cudaGetLastError();
    return error == CUDA_OUT_OF_MEMORY ? 0 : error;
}

/* Records the second of two events. @return the seconds since the first; 0: an error, kept in
 * @p result. */
static double between(void *const pair[2], struct gpu_result *result, const char *when)
{
    float ms;
    return good(result, api.cudaEventRecord(pair[1], NULL), when) &&
                   good(result, api.cudaEventSynchronize(pair[1]), when) &&
                   good(result, api.cudaEventElapsedTime(&ms, pair[0], pair[1]), when)
               ? ms * 1e-3
               : 0;
}

/* Times the convolution between two device-wide synchronisations. */
static void timed(lab_function *conv, const struct conv_shape *shape, void *const device[3],
                  bool virtual_clock, struct gpu_result *result)
{
    if (!good(result, api.cudaDeviceSynchronize(), "before the op"))
        return;
    good(result, api.cudaEventRecord(event[0], NULL), "before the op");
    struct conv_shape copy = *shape;
    double begin_s = clock_now_s();
    result->returned = conv(&copy, device[0], device[1], device[2]);
    good(result, last_error(), "from a launch or call in conv_forward");
    good(result, api.cudaDeviceSynchronize(), "while the kernels of conv_forward ran");
    double end_s = clock_now_s();
    result->op_time_s = end_s - begin_s;
    const double events_s = between(&event[0], result, "after the op");
    if (!result->error && virtual_clock)
        result->op_time_s = events_s;
}

/* ---- the three tensors, in the lab's memory -------- */

static int tensor_alloc(bool on_host, void **to, size_t bytes)
{
    return on_host ? api.cudaMallocHost(to, bytes) : api.cudaMalloc(to, bytes);
}

static int tensor_copy(bool on_host, void *to, const void *from, size_t bytes, int kind)
{
    if (!on_host)
        return api.cudaMemcpy(to, from, bytes, kind);
    memcpy(to, from, bytes);
    return 0;
}

static void tensor_free(bool on_host, void *tensor)
{
    if (tensor && on_host)
        api.cudaFreeHost(tensor);
    else if (tensor)
        api.cudaFree(tensor);
}

void gpu_conv(lab_function *conv, const struct conv_shape *shape, float *x, float *k, float *y,
              struct gpu_manner manner, struct gpu_result *result)
{
    enum { X, K, Y, TENSORS };
    float *host[TENSORS] = {x, k, y};
    void *device[TENSORS] = {0};
    const size_t bytes[TENSORS] = {nn_conv_x_elems(shape) * sizeof(float),
                                   nn_conv_k_elems(shape) * sizeof(float),
                                   nn_conv_y_elems(shape) * sizeof(float)};
    const bool alone = !manner.checked && !manner.virtual_clock, on_host = manner.host_tensors,
               recorded = alone && manner.recorded,
               of_layer = !manner.checked && manner.virtual_clock && !on_host;
    memset(result, 0, sizeof *result);
    for (int i = 0; i < TENSORS; i++)
        good(result, tensor_alloc(on_host, &device[i], bytes[i]), "when allocating tensors");
    if (of_layer && !result->error)
        good(result, api.cudaEventRecord(event[2], NULL), "before the layer");
    const double layer_s = clock_now_s();
    for (int i = 0; i < TENSORS; i++)
        if (!result->error && (manner.checked || i != Y))
            good(result, tensor_copy(on_host, device[i], host[i], bytes[i], CUDA_HOST_TO_DEVICE),
                 "when copying tensors to the device");
    const double in_s = clock_now_s() - layer_s;
    if (!result->error && manner.checked)
        lab_workspace_spoil(manner.virtual_clock ? device_renew : device_fill);
    if (!result->error && manner.checked && !manner.virtual_clock)
        flush_l2();
    if (recorded && !result->error) {
        recorded_attach(0);
        timed(conv, shape, device, false, result);
        if (!result->error && !result->returned)
            api.cudaProfilerStop();
    }
    if (alone && !result->error && !result->returned)
        timed(conv, shape, device, false, result);
    if (!result->error && !result->returned)
        timed(conv, shape, device, manner.virtual_clock, result);
    if (recorded) {
        const double op_time_s = result->op_time_s;
        recorded_attach(1);
        api.cudaProfilerStart();
        if (!result->error && !result->returned)
            timed(conv, shape, device, false, result);
        result->op_time_s = op_time_s;
    }
    const double back_s = clock_now_s();
    for (int i = 0; i < TENSORS; i++)
        if (!result->error && (manner.checked || i == Y))
            good(result, tensor_copy(on_host, host[i], device[i], bytes[i], CUDA_DEVICE_TO_HOST),
                 "when copying tensors back");
    result->layer_time_s = result->op_time_s + (on_host ? 0 : in_s + clock_now_s() - back_s);
    if (of_layer && !result->error)
        result->layer_time_s = between(&event[2], result, "after the layer");
    for (int i = 0; i < TENSORS; i++)
        tensor_free(on_host, device[i]);
    size_t total;
    if (manner.checked && !result->error && api.cudaMemGetInfo(&result->free_bytes, &total))
        result->free_bytes = 0;
}
