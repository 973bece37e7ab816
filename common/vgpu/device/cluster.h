/** @file
 * The size of a launch's thread block clusters.
 */
#pragma once

#include "vgpu/device/client_session.h"

/** Three sizes of 16 bits, as requests have them; all 0: none. */
struct vg_dim cluster_unpack(uint64_t packed);
/** Decides on the size of clusters. @param grid  in blocks afterwards, for a kernel whose launches count
 * clusters @param cluster  as the launch names it, x 0 if it does not @return an error, or VP_OK */
int cluster_settle(const struct session *session, const struct kernel *kernel,
                   const struct vg_kernel_attributes *attributes, struct vg_dim *grid,
                   struct vg_dim *cluster);
