/** @file
 * The size of a launch's thread block clusters.
 */
#pragma once

#include "vgpu/device/client_session.h"

/** Three sizes of 16 bits, for requests; all 0: none. */
struct vg_dim cluster_unpack(uint64_t packed);
/** Determines the size of clusters. @param grid  converted to blocks for a kernel whose launches
 * count clusters @param cluster  of the launch; x 0: not given @return an error, or VP_OK */
int cluster_settle(const struct session *session, const struct kernel *kernel,
                   const struct vg_kernel_attributes *attributes, struct vg_dim *grid,
                   struct vg_dim *cluster);
