/** @file
 * Calls a lab's conv_forward() with device pointers, or conv_forward_host() with page-locked host
 * memory; allocates, copies, times, and reports errors.
 */
#ifndef CONVLAB_RUNNER_GPU_H
#define CONVLAB_RUNNER_GPU_H

#include "base/status.h"
#include "runner/lab.h"

#include <stdbool.h>

/** Opens the device: finds the CUDA runtime, makes conv_workspace() give device memory.
 * @param lab  the lab's library (see cuda_api.h)
 * @param name  filled with the device's name
 * @return ST_OK, or ST_MISSING_TOOL with the reason. */
enum st_code gpu_open(const char *lab, char *name, size_t room, struct st_error *err);

enum { GPU_ID_CHARS = 41 };

/** Writes the UUID of the opened device, as nvidia-smi does: GPU-5b1c3d2e-... */
void gpu_id(char to[GPU_ID_CHARS]);

/** Result of gpu_conv(). */
struct gpu_result {
    int returned;         /**< the return value of conv_forward() */
    double op_time_s;     /**< time of the op between synchronisations, by events or the host
                               clock */
    double layer_time_s;  /**< if not checked: the op with the copies of x and k to the device and
                               of y back; for a lab that makes its own copies, its op time */
    size_t free_bytes;    /**< if checked: free device memory afterwards; 0: unknown */
    int error;            /**< the first CUDA error, or 0 */
    char error_text[256]; /**< "cudaErrorIllegalAddress (an illegal memory ...) after the op" */
};

/** Options of gpu_conv(). */
struct gpu_manner {
    bool host_tensors;  /**< the lab gets host memory (struct exercise) */
    bool virtual_clock; /**< time by events (the virtual GPU's clock) instead of the host's clock */
    bool checked;       /**< for a grader: poison is copied to y, x and k are copied back, and on a
                             real GPU the L2 cache is emptied. If false, none of these extra
                             operations appears in a profile. */
    bool recorded;      /**< on a real GPU: time the run without recording, then record another run
                             (trace/recorded.h) */
};

/** Runs one convolution on the device: copies x and k to new allocations (device memory, or
 * page-locked host memory), runs the lab, and copies y back.
 * @param x, k, y  host memory; y is overwritten, and if checked, x and k are overwritten with the
 * device's copies, so that the caller can find changes. */
void gpu_conv(lab_function *conv, const struct conv_shape *shape, float *x, float *k, float *y,
              struct gpu_manner manner, struct gpu_result *result);

#endif
