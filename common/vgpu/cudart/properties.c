/* The device's properties and attributes, from the profile. */
#include "vgpu/cudart/shim.h"

#include <stdio.h>
#include <string.h>

#define GRID_X_MAX  0x7fffffff
#define GRID_YZ_MAX 65535
#define BLOCK_Z_MAX 64
#define WARP        32

/* Offsets and values of the fields, for both versions. */
static const struct {
    int at_12, at_13, bytes;
} fields[] = {
#define FIELD(type, name, at_12, at_13, value) {at_12, at_13, sizeof(type)},
#include "vgpu/cudart/properties.def"
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields, BYTES_13 = 1008, UUID_AT = 256 };

cudaError_t rt_properties(void *to, int device, int version)
{
    const struct vg_profile *p = rt_profile();
    if (!p)
        return cudaErrorNoDevice;
    if (!to || device != 0)
        return to ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    const uint64_t values[FIELDS] = {
#define FIELD(type, name, at_12, at_13, value) (uint64_t)(type)(value),
#include "vgpu/cudart/properties.def"
#undef FIELD
    };
    memset(to, 0, version == 12 ? RT_PROPERTIES_BYTES : BYTES_13);
    snprintf(to, UUID_AT, "%s (virtual)", p->product);
    memcpy((char *)to + UUID_AT, "ConvLab virtual", 16);
    for (size_t i = 0; i < FIELDS; i++) {
        const int at = version == 12 ? fields[i].at_12 : fields[i].at_13;
        if (at >= 0) /* little-endian: low bytes first */
            memcpy((char *)to + at, &values[i], (size_t)fields[i].bytes);
    }
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *to, int device)
{
    return rt_return(rt_properties(to, device, 13));
}

#define X(number, name, value) _Static_assert(name == (number), #name);
#include "vgpu/api/attributes.def"
#undef X

/* @return an attribute's value; 0 for features that the virtual GPU does not have. */
static double attribute(const struct vg_profile *p, enum cudaDeviceAttr which)
{
#define X(number, name, value) {name, (double)(value)},
    const struct {
        enum cudaDeviceAttr which;
        double value;
    } values[] = {
#include "vgpu/api/attributes.def"
    };
#undef X
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].which == which)
            return values[i].value;
    return 0;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    const struct vg_profile *p = rt_profile();
    if (!p)
        return rt_return(cudaErrorNoDevice);
    if (!value || device != 0 || (int)which < 1 || which >= cudaDevAttrMax)
        return rt_return(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *value = (int)attribute(p, which);
    return cudaSuccess;
}
