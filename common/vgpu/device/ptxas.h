/** @file
 * How many registers a kernel has on a GPU, from NVIDIA's assembler, where it is installed and a program has
 * brought PTX only. The device process cannot start programs (device_confinement.h): a separate process,
 * started before, does so when it is asked. The device of a grading has none.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** Starts that process, if there is a ptxas in the CUDA Toolkit. @pre one thread */
void ptxas_start(void);
/** @return whether that process runs. */
bool ptxas_is_there(void);
/** Assembles a kernel. @param symbol  its name in the PTX @param sm  90 for sm_90
 * @return whether ptxas accepted it; then @p info has its facts. */
bool ptxas_ask(const char *ptx, size_t bytes, const char *symbol, int sm,
               struct vg_kernel_info *info);
