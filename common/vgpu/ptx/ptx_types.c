#include "vgpu/ptx/ptx_types.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned char bytes, is_signed, is_float;
} types[] = {
#define ROW(name, bytes, is_signed, is_float) {#name, bytes, is_signed, is_float},
    PTX_TYPE_MAP(ROW)
#undef ROW
};

size_t ptx_type_bytes(enum ptx_type type)
{
    return types[type].bytes;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return types[type].is_signed;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return types[type].is_float;
}

int ptx_type_per_register(enum ptx_type type)
{
    if (type == PTX_TYPE_b1)
        return 32;
    if (type == PTX_TYPE_u4 || type == PTX_TYPE_s4)
        return 8;
    size_t bytes = ptx_type_bytes(type);
    return bytes && bytes < 4 ? 4 / (int)bytes : 1;
}

bool ptx_type_is_element(enum ptx_type type)
{
    return type == PTX_TYPE_e4m3 || type == PTX_TYPE_e5m2 || type == PTX_TYPE_b1 ||
           type == PTX_TYPE_u4 || type == PTX_TYPE_s4;
}

enum ptx_type ptx_type_find(const char *name, size_t n)
{
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0)
            return (enum ptx_type)i;
    return PTX_TYPE_none;
}
