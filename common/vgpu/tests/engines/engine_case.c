/* Reads the comments of a case and makes the contents of its buffers. */
#include "vgpu/tests/engines/engine_case.h"

#include "base/rng.h"
#include "vgpu/exec/float_bits.h"

#include <stdio.h>
#include <string.h>

static bool read_buffer(struct engine_case *to, const char *text)
{
    struct case_buffer *b = &to->buffers[to->buffer_count];
    unsigned long long seed;
    if (to->buffer_count == CASE_BUFFERS ||
        sscanf(text, "%zu %llu %11s", &b->bytes, &seed, b->kind) != 3 || b->bytes > 64 << 20)
        return false;
    b->seed = seed;
    to->buffer_count++;
    return true;
}

static bool read_launch(struct engine_case *to, const char *text)
{
    struct case_launch *l = &to->launches[to->launch_count];
    if (to->launch_count == CASE_LAUNCHES ||
        sscanf(text, "%31s %u %u %u %u %u %u %zu", l->kernel, &l->grid.x, &l->grid.y, &l->grid.z,
               &l->block.x, &l->block.y, &l->block.z, &l->dynamic_bytes) != 8)
        return false;
    to->launch_count++;
    return true;
}

static bool read_comment(struct engine_case *to, const char *text)
{
    unsigned long long order;
    if (strncmp(text, "buffer ", 7) == 0)
        return read_buffer(to, text + 7);
    if (strncmp(text, "launch ", 7) == 0)
        return read_launch(to, text + 7);
    if (strncmp(text, "scalar ", 7) == 0)
        return to->scalar_count < CASE_SCALARS &&
               sscanf(text + 7, "%u", &to->scalars[to->scalar_count++]) == 1;
    if (strncmp(text, "variable ", 9) == 0)
        return to->variable_count < CASE_VARIABLES &&
               sscanf(text + 9, "%31s", to->variables[to->variable_count++]) == 1;
    if (strncmp(text, "order ", 6) != 0 || sscanf(text + 6, "%llu", &order) != 1)
        return false;
    to->order = order;
    return true;
}

bool case_read(struct engine_case *to, const char *ptx)
{
    *to = (struct engine_case){.ptx = ptx};
    for (const char *p = ptx; (p = strstr(p, "//@ ")); p++)
        if (!read_comment(to, p + 4))
            return false;
    while (!to->launch_count && to->buffer_count < CASE_BUFFERS)
        to->buffers[to->buffer_count++] = (struct case_buffer){1 << 16, 1, "index"};
    return true;
}

/* A word as a program may contain it: small and large integers, pairs of floats, doubles, halves,
 * and the edge cases of each. */
static uint64_t data_word(struct rng *rng)
{
    static const uint64_t edges[] = {
        0,
        1,
        UINT64_MAX,
        0x7fffffff80000000,
        0x8000000000000000,
        0x7fffffffffffffff,
        0x7f8000007fc00000,
        0xff80000000000001,
        0x7fa00000ffc12345,
        0x8000000080000000,
        0x007fffff00800000,
        0x7f7fffffff7fffff,
        0x7ff0000000000000,
        0xfff8000000000123,
        0x7ff4000000000456,
        0x000fffffffffffff,
        0x3ff0000000000000,
        0x7c007e00fc000001,
        0x3c00bc003c01bc01,
        0x00000020ffffffe0,
    };
    const uint64_t bits = rng_u64(rng);
    switch (bits % 8) {
    case 0:
        return edges[bits / 8 % (sizeof edges / sizeof *edges)];
    case 1:
        return rng_u64(rng);
    case 2:
        return (bits >> 8 & 0xff) | (uint64_t)(0 - (bits >> 16 & 0x1f)) << 32;
    case 3:
        return bits_of_f64((double)((int64_t)rng_u64(rng) >> 30) / 1024);
    case 4:
        return 0x3c003c003c003c00 ^ (rng_u64(rng) & 0x8fff8fff8fff8fff);
    default:
        return (uint64_t)bits_of_f32(rng_float(rng, -100, 100)) << 32 |
               bits_of_f32(rng_float(rng, -2, 2));
    }
}

size_t case_fill(const struct case_buffer *buffer, void *to)
{
    struct rng rng = rng_make(buffer->seed, 7);
    if (strcmp(buffer->kind, "none") == 0)
        return 0;
    if (strcmp(buffer->kind, "zero") == 0) {
        memset(to, 0, buffer->bytes);
        return buffer->bytes;
    }
    const bool is_index = strcmp(buffer->kind, "index") == 0;
    for (size_t i = 0; i + 8 <= buffer->bytes; i += 8) {
        uint64_t word = is_index ? rng_u64(&rng) & 0x00000fff00000fff : data_word(&rng);
        memcpy((char *)to + i, &word, sizeof word);
    }
    return strcmp(buffer->kind, "holes") == 0 ? buffer->bytes / 4 * 2 : buffer->bytes / 8 * 8;
}
