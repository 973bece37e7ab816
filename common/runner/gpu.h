/** @file
 * Calls a lab's conv_forward() with device pointers, or conv_forward_host() with page-locked host
 * memory: memory, copies, timing, errors.
 */
#ifndef CONVLAB_RUNNER_GPU_H
#define CONVLAB_RUNNER_GPU_H

#include "base/status.h"
#include "runner/lab.h"

#include <stdbool.h>
#include <stdint.h>

/** Opens the device: finds the CUDA runtime, makes conv_workspace() give device memory.
 * @param lab   the library to call (cuda_api.h)
 * @param name  filled with the device's name
 * @return ST_OK, or ST_MISSING_TOOL with the reason. */
enum st_code gpu_open(const char *lab, char *name, size_t room, struct st_error *err);

enum { GPU_ID_CHARS = 41 };

/** The UUID of the device that gpu_open() has opened, as nvidia-smi writes it: GPU-5b1c3d2e-... */
void gpu_id(char to[GPU_ID_CHARS]);

/** Result of gpu_conv(). */
struct gpu_result {
    int returned;         /**< the return value of conv_forward() */
    double op_time_s;     /**< of the op, between synchronisations: by events or the host clock */
    double layer_time_s;  /**< not checked: including the copies of x and k to the device and of y
                             back; for a lab that copies by itself, its op time */
    size_t free_bytes;    /**< checked: free device memory afterwards; 0: unknown */
    int error;            /**< the first CUDA error, or 0 */
    char error_text[256]; /**< "cudaErrorIllegalAddress (an illegal memory ...) after the op" */
};

/** Options of gpu_conv(). */
struct gpu_manner {
    bool host_tensors;  /**< the lab gets host memory (struct exercise) */
    bool virtual_clock; /**< time by events (the virtual GPU's clock) instead of the host's clock */
    bool checked;       /**< for a grader: y's poison is copied in, x and k are copied back, and on
                           a real GPU the L2 cache is emptied. Otherwise as in a plain program, so
                           that its profile shows nothing else. */
    bool recorded;      /**< on a real GPU: time it without recording, and run it once more for the
                      record (trace/recorded.h) */
};

/** Runs one convolution on the device: copies x and k to fresh allocations, of the device or
 * page-locked, runs the lab, copies y back.
 * @param x, k, y  host memory; y is overwritten, and if checked, x and k are overwritten with the
 * device's copies, so that the caller sees whether they were changed. */
void gpu_conv(lab_function *conv, const struct conv_shape *shape, float *x, float *k, float *y,
              struct gpu_manner manner, struct gpu_result *result);

#endif
