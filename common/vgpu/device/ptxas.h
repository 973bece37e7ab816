/** @file
 * The number of registers of a kernel on a GPU: if a program has only PTX, NVIDIA's assembler
 * determines it, if installed. The device process cannot start programs (device_confinement.h), so
 * a process started before runs ptxas on request. A grading's device process has no such process.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** Starts the process that runs ptxas, if the CUDA Toolkit has ptxas. @pre one thread */
void ptxas_start(void);
/** @return whether the process for ptxas runs. */
bool ptxas_is_there(void);
/** Assembles a kernel. @param symbol  its name in the PTX @param sm  90 for sm_90
 * @return whether ptxas accepted it; then @p info has its facts. */
bool ptxas_ask(const char *ptx, size_t bytes, const char *symbol, int sm,
               struct vg_kernel_info *info);
