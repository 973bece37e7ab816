/** @file
 * The size of a launch's thread block clusters.
 */
#pragma once

#include "vgpu/device/client_session.h"

/** Unpacks three sizes of 16 bits from a request; all 0: no clusters. */
struct vg_dim cluster_unpack(uint64_t packed);
/** Determines the size of clusters. @param grid  converted to blocks if the kernel's launches count
 * clusters @param cluster  the launch's size; x 0: not given @return an error, or VP_OK */
int cluster_settle(const struct session *session, const struct kernel *kernel,
                   const struct vg_kernel_attributes *attributes, struct vg_dim *grid,
                   struct vg_dim *cluster);
