/* Virtual memory management: memory is created without an address, and mapped into a reserved range
 * of addresses. A descriptor for other processes is a file in memory with a magic and the two words
 * that the device knows; so no process gets a descriptor of the device's memory. */
#include "vgpu/driver/driver.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct words {
    char magic[8];
    uint64_t key[2];
};
static const char magic[8] = "vgpu-mem";

static cudaError_t request(struct call *c, enum vp_range what, uint64_t a, uint64_t b, uint64_t d,
                           uint64_t e)
{
    *c = rt_call(VP_RANGE, rt_driver_call, 0, what, a, b, d, e);
    return rt_exchange(c);
}

/* Checks properties. Only memory of the device exists here. */
static cudaError_t check(const CUmemAllocationProp *p)
{
    static bool said;
    const unsigned handles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return cudaErrorInvalidValue;
    if (p->location.type == CU_MEM_LOCATION_TYPE_DEVICE && p->location.id)
        return cudaErrorInvalidDevice;
    if (p->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        !((unsigned)p->requestedHandleTypes & ~handles))
        return cudaSuccess;
    rt_say_once(&said, "cuMemCreate: only memory of the device, and handles that are descriptors, "
                       "are supported");
    return cudaErrorNotSupported;
}

static cudaError_t create(CUmemGenericAllocationHandle *to, size_t bytes,
                          const CUmemAllocationProp *p, cuuint64_t flags)
{
    struct call c;
    cudaError_t error = to && !flags ? check(p) : cudaErrorInvalidValue;
    if (!error)
        error = request(&c, VP_RANGE_CREATE, bytes,
                        (p->requestedHandleTypes ? VP_MAY_EXPORT : 0) |
                            (p->allocFlags.compressionType ? VP_COMPRESSIBLE : 0),
                        0, 0);
    return error ? error : PUT(to, c.reply.r[0], cudaSuccess);
}

static cudaError_t properties(CUmemAllocationProp *to, CUmemGenericAllocationHandle handle)
{
    struct call c;
    cudaError_t error = request(&c, VP_RANGE_PROPERTIES, handle, 0, 0, 0);
    return error ? error
                 : PUT(to,
                       ((CUmemAllocationProp){
                           .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                           .requestedHandleTypes = c.reply.r[1] & VP_MAY_EXPORT
                                                       ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                       : CU_MEM_HANDLE_TYPE_NONE,
                           .allocFlags.compressionType = c.reply.r[1] & VP_COMPRESSIBLE
                                                             ? CU_MEM_ALLOCATION_COMP_GENERIC
                                                             : CU_MEM_ALLOCATION_COMP_NONE,
                           .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}}),
                       cudaSuccess);
}

static cudaError_t reserve(CUdeviceptr *to, size_t bytes, size_t alignment, cuuint64_t flags)
{
    struct call c;
    if (!to || flags)
        return cudaErrorInvalidValue;
    cudaError_t error = request(&c, VP_RANGE_RESERVE, bytes, alignment, 0, 0);
    return error ? error : PUT(to, c.reply.r[0], cudaSuccess);
}

static cudaError_t simple(enum vp_range what, uint64_t a, uint64_t b, uint64_t d, uint64_t e)
{
    struct call c;
    return request(&c, what, a, b, d, e);
}

static cudaError_t set_access(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *list, size_t n)
{
    cudaError_t error = list && n ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !error; i++) {
        const unsigned flags = (unsigned)list[i].flags;
        const enum vg_rights rights = flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? VG_READ_WRITE
                                      : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? VG_READ_ONLY
                                      : flags == CU_MEM_ACCESS_FLAGS_PROT_NONE    ? VG_NO_ACCESS
                                                                                  : VG_UNMAPPED;
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            error = cudaErrorNotSupported;
        else if (list[i].location.id)
            error = cudaErrorInvalidDevice;
        else
            error = simple(VP_RANGE_RIGHTS, p, bytes, rights, 0);
    }
    return error;
}

static cudaError_t get_access(unsigned long long *flags, const CUmemLocation *location,
                              CUdeviceptr p)
{
    static const unsigned long long of[] = {[VG_NO_ACCESS] = CU_MEM_ACCESS_FLAGS_PROT_NONE,
                                            [VG_READ_ONLY] = CU_MEM_ACCESS_FLAGS_PROT_READ,
                                            [VG_READ_WRITE] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    struct call c;
    if (!location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id)
        return cudaErrorInvalidValue;
    cudaError_t error = request(&c, VP_RANGE_LOOK, p, 0, 0, 0);
    return error ? error : PUT(flags, of[c.reply.r[1] & 3], cudaSuccess);
}

static cudaError_t retain(CUmemGenericAllocationHandle *to, CUdeviceptr p)
{
    struct call c;
    cudaError_t error = to ? request(&c, VP_RANGE_LOOK, p, 1, 0, 0) : cudaErrorInvalidValue;
    return error ? error : PUT(to, c.reply.r[0], cudaSuccess);
}

/* ---- other processes ------------------------------------------------------------------------- */

static bool is_descriptor(CUmemAllocationHandleType type)
{
    static bool said;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        rt_say_once(&said, "memory can be shared by descriptors (CU_MEM_HANDLE_TYPE_POSIX_FILE_"
                           "DESCRIPTOR) only");
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

static cudaError_t export(int *to, CUmemGenericAllocationHandle handle,
                          CUmemAllocationHandleType type)
{
    struct call c;
    if (!is_descriptor(type))
        return cudaErrorNotSupported;
    cudaError_t error = to ? request(&c, VP_RANGE_EXPORT, handle, 0, 0, 0) : cudaErrorInvalidValue;
    if (error)
        return error;
    struct words w = {.key = {c.reply.r[0], c.reply.r[1]}};
    memcpy(w.magic, magic, sizeof magic);
    const int fd = memfd_create("vgpu-handle", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, &w, sizeof w, 0) != sizeof w) {
        if (fd >= 0)
            close(fd);
        return cudaErrorMemoryAllocation;
    }
    *to = fd;
    return cudaSuccess;
}

static cudaError_t import(CUmemGenericAllocationHandle *to, void *descriptor,
                          CUmemAllocationHandleType type)
{
    struct words w;
    struct call c;
    if (!is_descriptor(type))
        return cudaErrorNotSupported;
    if (!to)
        return cudaErrorInvalidValue;
    if (pread((int)(intptr_t)descriptor, &w, sizeof w, 0) != sizeof w ||
        memcmp(w.magic, magic, sizeof magic) != 0)
        return cudaErrorUnknown; /* as an H200 for any other file */
    cudaError_t error = request(&c, VP_RANGE_IMPORT, w.key[0], w.key[1], 0, 0);
    return error ? error : PUT(to, c.reply.r[0], cudaSuccess);
}

DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemGetAllocationGranularity,
             (size_t * to, const CUmemAllocationProp *p,
              CUmemAllocationGranularity_flags recommended),
             PUT(to, VG_RANGE_UNIT, check(p)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemCreate,
             (CUmemGenericAllocationHandle * to, size_t bytes, const CUmemAllocationProp *p,
              unsigned long long flags),
             driver_outlives(create(to, bytes, p, flags), 1))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemRelease, (CUmemGenericAllocationHandle handle),
             driver_outlives(simple(VP_RANGE_RELEASE, handle, 0, 0, 0), -1))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemGetAllocationPropertiesFromHandle,
             (CUmemAllocationProp * to, CUmemGenericAllocationHandle handle),
             properties(to, handle))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemAddressReserve,
             (CUdeviceptr * to, size_t bytes, size_t alignment, CUdeviceptr wish,
              unsigned long long flags),
             driver_outlives(reserve(to, bytes, alignment, flags), 1))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemAddressFree, (CUdeviceptr p, size_t bytes),
             driver_outlives(simple(VP_RANGE_FREE, p, bytes, 0, 0), -1))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemMap,
             (CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
              unsigned long long flags),
             flags ? cudaErrorInvalidValue : simple(VP_RANGE_MAP, p, bytes, offset, handle))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemUnmap, (CUdeviceptr p, size_t bytes),
             simple(VP_RANGE_UNMAP, p, bytes, 0, 0))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemSetAccess,
             (CUdeviceptr p, size_t bytes, const CUmemAccessDesc *list, size_t n),
             set_access(p, bytes, list, n))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemGetAccess,
             (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p),
             get_access(flags, location, p))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemRetainAllocationHandle,
             (CUmemGenericAllocationHandle * to, void *p),
             driver_outlives(retain(to, HANDLE(p)), 1))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemExportToShareableHandle,
             (void *to, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
              unsigned long long flags),
             export(to, handle, type))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuMemImportFromShareableHandle,
             (CUmemGenericAllocationHandle * to, void *handle, CUmemAllocationHandleType type),
             driver_outlives(import(to, handle, type), 1))
