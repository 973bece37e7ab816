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

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

enum ptx_type ptx_type_find(const char *name, size_t n)
{
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0)
            return (enum ptx_type)i;
    return PTX_TYPE_none;
}
