/** @file
 * Calling a lab's conv_forward() with device pointers, or conv_forward_host() with page-locked host
 * memory: memory, copies, timing, errors.
 */
#ifndef CONVLAB_RUNNER_GPU_H
#define CONVLAB_RUNNER_GPU_H

#include "base/status.h"
#include "runner/lab.h"

#include <stdbool.h>
#include <stdint.h>

/** Opens the device: finds the CUDA runtime, makes conv_workspace() give device memory.
 * @param lab   the library that will be called (cuda_api.h)
 * @param name  filled with the device's name
 * @return ST_OK, or ST_MISSING_TOOL with why there is no device. */
enum st_code gpu_open(const char *lab, char *name, size_t room, struct st_error *err);

enum { GPU_ID_CHARS = 41 };

/** The UUID of the device that gpu_open() has opened, as nvidia-smi writes it: GPU-5b1c3d2e-... */
void gpu_id(char to[GPU_ID_CHARS]);

/** Result of gpu_conv(). */
struct gpu_result {
    int returned;     /**< by conv_forward() */
    double op_time_s; /**< of the op, device-wide synchronised: by events, or by the host's clock */
    double layer_time_s;  /**< not checked: with the copies of x and k to the device, of y back;
                             of a lab that copies by itself, its op time */
    size_t free_bytes;    /**< checked: of the device's memory afterwards; 0: unknown */
    int error;            /**< the first CUDA error, or 0 */
    char error_text[256]; /**< "cudaErrorIllegalAddress (an illegal memory ...) after the op" */
};

/** Options of gpu_conv(). */
struct gpu_manner {
    bool host_tensors;  /**< the lab gets host memory (struct exercise) */
    bool virtual_clock; /**< time by events (the virtual GPU's clock), not by the host's clock */
    bool checked;       /**< for a grader: y's poison is copied in, x and k are copied back, and on
                           a real GPU the L2 cache is emptied. Else as a program of one's own would
                           do it, so that its profile shows no more. */
    bool recorded; /**< on a real GPU: time it while the profiler records nothing, and do it once
                      more for the record (trace/recorded.h) */
};

/** One convolution on the device: copies x and k to fresh allocations, of the device or page-locked, runs
 * the lab, copies y back.
 * @param x, k, y  host memory; y is overwritten, and if checked so are x and k with what the device
 *                 then has of them, so that the caller sees whether they were changed. */
void gpu_conv(lab_function *conv, const struct conv_shape *shape, float *x, float *k, float *y,
              struct gpu_manner manner, struct gpu_result *result);

#endif
