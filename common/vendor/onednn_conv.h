/** @file
 * oneDNN's convolution on the CPU, for comparison with ours.
 *
 * The library, version 2 or 3, is loaded on demand (dlopen); without it vn_onednn_open() fails. Its
 * headers are not needed.
 */
#pragma once

#include "base/status.h"
#include "conv.h"

#include <stdbool.h>

/** An open oneDNN. */
struct vn_onednn;

/** Loads oneDNN and makes an engine and a stream on the CPU.
 * @param onednn  set; free with vn_onednn_close()
 * @return ST_OK, or ST_MISSING_TOOL with the reason. */
enum st_code vn_onednn_open(struct vn_onednn **onednn, struct st_error *err);

/** Closes oneDNN; harmless on NULL. */
void vn_onednn_close(struct vn_onednn *onednn);

/** @return the library's version, for example "2.6.3". */
const char *vn_onednn_version(const struct vn_onednn *onednn);

/** One convolution, prepared for tensors at fixed addresses. */
struct vn_onednn_conv;

/** Prepares a convolution. The tensors are as in conv.h; internally, oneDNN chooses the layout of
 * the weights and, if requested, the layouts of x and y, which costs reorders.
 * @param conv  set; free with vn_onednn_conv_free(). x, k and y are not owned. */
enum st_code vn_onednn_conv_make(struct vn_onednn_conv **conv, struct vn_onednn *onednn,
                                 const struct conv_shape *shape, bool choose_x, bool choose_y,
                                 const float *x, const float *k, float *y, struct st_error *err);

/** Runs the convolution and waits. @param reorders_s  set to the time spent in reorders, or NULL.
 * @param total_s set to the total time. */
enum st_code vn_onednn_conv_run(const struct vn_onednn_conv *conv, double *total_s,
                                double *reorders_s, struct st_error *err);

/** @return oneDNN's name for the implementation. */
const char *vn_onednn_conv_name(const struct vn_onednn_conv *conv);

/** Releases the convolution; harmless on NULL. */
void vn_onednn_conv_free(struct vn_onednn_conv *conv);
