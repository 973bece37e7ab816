// A reserved range with memory in its first half.
#pragma once

#include "vgpu/tests/driver.cuh"
#include "vgpu/tests/faults.cuh"

const size_t UNIT = 2 << 20;

static inline CUdeviceptr half_mapped(CUmemAccess_flags flags)
{
    CUmemAllocationProp p = {};
    CUmemAccessDesc rights = {};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    rights.location.type = p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    rights.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DO(cuMemCreate, &memory, UNIT, &p, 0);
    DO(cuMemAddressReserve, &at, 2 * UNIT, 0, 0, 0);
    DO(cuMemMap, at, UNIT, 0, memory, 0);
    DO(cuMemSetAccess, at, UNIT, &rights, 1);
    DO(cuMemsetD8, at, 7, UNIT);
    rights.flags = flags;
    DO(cuMemSetAccess, at, UNIT, &rights, 1);
    DO(cuMemRelease, memory);
    return at;
}
