/** @file
 * The number of registers of a kernel on a GPU, from NVIDIA's assembler if it is installed and a
 * program has only PTX. The device process cannot start programs (device_confinement.h): a separate
 * process, started before, does so on request. The device of a grading has no such process.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** Starts that process, if the CUDA Toolkit has a ptxas. @pre one thread */
void ptxas_start(void);
/** @return whether that process runs. */
bool ptxas_is_there(void);
/** Assembles a kernel. @param symbol  its name in the PTX @param sm  90 for sm_90
 * @return whether ptxas accepted it; then @p info has its facts. */
bool ptxas_ask(const char *ptx, size_t bytes, const char *symbol, int sm,
               struct vg_kernel_info *info);
