/* The container: indexes, chooses and decompresses its entries. */
#include "vgpu/fatbin/fatbin.h"

#include "base/array_room.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Far above the PTX of any real program; an image that claims more is not decompressed. */
#define MAX_UNCOMPRESSED_BYTES ((size_t)256 << 20)
#define ENTRY_HEADER_BYTES     64
#define FLAG_LZ4               UINT64_C(0x2000)
#define FLAG_ZSTD              UINT64_C(0x8000)
#define FLAG_SPECIFIC          UINT64_C(0x100000)

static uint16_t u16_at(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32_at(const unsigned char *p)
{
    return u16_at(p) | (uint32_t)u16_at(p + 2) << 16;
}

static uint64_t u64_at(const unsigned char *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static enum st_code damaged(struct st_error *err, enum st_code code, const char *what,
                            size_t offset)
{
    st_fail(err, code, "the program's GPU code (fat binary) is damaged: %s", what);
    st_detail(err, ST_WHERE, "offset %zu of the fat binary", offset);
    st_detail(err, ST_HINT, "compile the program again");
    return code;
}

/* Reads the entry header at p. @param left  bytes of the image from there on */
static enum st_code entry_read(struct fatbin_entry *to, const unsigned char *p, size_t left,
                               size_t offset, size_t *length, struct st_error *err)
{
    if (left < ENTRY_HEADER_BYTES)
        return damaged(err, ST_TRUNCATED, "an entry's header is cut off", offset);
    size_t header = u32_at(p + 4);
    uint64_t payload = u64_at(p + 8);
    if (header < ENTRY_HEADER_BYTES || header > left)
        return damaged(err, ST_BAD_FORMAT, "an entry's header has an impossible length", offset);
    if (payload > left - header)
        return damaged(err, ST_TRUNCATED, "an entry is longer than the fat binary", offset);
    uint64_t flags = u64_at(p + 40);
    size_t compressed = u32_at(p + 16);
    uint64_t uncompressed = u64_at(p + 56);
    *to = (struct fatbin_entry){
        .kind = u16_at(p),
        .sm = (int)(u32_at(p + 28) & 0xffff),
        .specific = flags & FLAG_SPECIFIC,
        .minor = u16_at(p + 24),
        .major = u16_at(p + 26),
        .payload = p + header,
        .stored_bytes = (size_t)payload,
        .bytes = (size_t)payload,
        .offset = offset,
        .storage = flags & FLAG_ZSTD  ? FATBIN_ZSTD
                   : flags & FLAG_LZ4 ? FATBIN_LZ4
                                      : FATBIN_RAW,
    };
    if (to->storage != FATBIN_RAW) {
        if (compressed > payload || uncompressed > MAX_UNCOMPRESSED_BYTES)
            return damaged(err, ST_BAD_FORMAT, "a compressed entry has impossible lengths", offset);
        to->stored_bytes = compressed;
        to->bytes = (size_t)uncompressed;
    }
    *length = header + (size_t)payload;
    return ST_OK;
}

enum st_code fatbin_open(struct fatbin *to, const void *image, size_t bytes, struct st_error *err)
{
    *to = (struct fatbin){0};
    const unsigned char *p = image;
    if (bytes < FATBIN_HEADER_BYTES)
        return damaged(err, ST_TRUNCATED, "its header is cut off", 0);
    if (u32_at(p) != FATBIN_MAGIC)
        return damaged(err, ST_BAD_FORMAT, "it has the wrong magic number", 0);
    size_t header = u16_at(p + 6);
    uint64_t body = u64_at(p + 8);
    if (header < FATBIN_HEADER_BYTES || header > bytes)
        return damaged(err, ST_BAD_FORMAT, "its header has an impossible length", 6);
    if (body > bytes - header)
        return damaged(err, ST_TRUNCATED, "it is shorter than its header says", 8);
    size_t end = header + (size_t)body;
    for (size_t at = header, length; at < end; at += length) {
        struct fatbin_entry entry;
        enum st_code code = entry_read(&entry, p + at, end - at, at, &length, err);
        if (!code && !ARRAY_ROOM(to->entries, to->n))
            code = st_fail(err, ST_NO_MEMORY, "out of memory for a fat binary's index");
        if (code) {
            fatbin_close(to);
            return code;
        }
        to->entries[to->n++] = entry;
    }
    return ST_OK;
}

void fatbin_close(struct fatbin *fatbin)
{
    free(fatbin->entries);
    *fatbin = (struct fatbin){0};
}

/* Machine code runs on its architecture and on later ones of the same generation. */
static bool has_code_for(const struct fatbin *fatbin, int sm)
{
    for (size_t i = 0; i < fatbin->n; i++) {
        const struct fatbin_entry *e = &fatbin->entries[i];
        if (e->kind == FATBIN_ELF && e->sm / 10 == sm / 10 && e->sm <= sm)
            return true;
    }
    return false;
}

const struct fatbin_entry *fatbin_best_ptx(const struct fatbin *fatbin, int sm)
{
    const struct fatbin_entry *best = NULL, *oldest = NULL;
    for (size_t i = 0; i < fatbin->n; i++) {
        const struct fatbin_entry *e = &fatbin->entries[i];
        if (e->kind != FATBIN_PTX)
            continue;
        if (e->sm <= sm && (!best || e->sm > best->sm || (e->sm == best->sm && e->specific)))
            best = e;
        if (!oldest || e->sm < oldest->sm)
            oldest = e;
    }
    if (!best && (sm < FATBIN_OLDEST_SM || has_code_for(fatbin, sm)))
        return oldest;
    return best;
}

const struct fatbin_entry *fatbin_best_cubin(const struct fatbin *fatbin, int sm)
{
    const struct fatbin_entry *best = NULL;
    for (size_t i = 0; i < fatbin->n; i++) {
        const struct fatbin_entry *e = &fatbin->entries[i];
        if (e->kind == FATBIN_ELF && (!best || abs(e->sm - sm) < abs(best->sm - sm)))
            best = e;
    }
    return best;
}

static bool decompress(const struct fatbin_entry *e, char *to)
{
    if (e->storage == FATBIN_ZSTD) {
        size_t got = ZSTD_decompress(to, e->bytes, e->payload, e->stored_bytes);
        return !ZSTD_isError(got) && got == e->bytes;
    }
    int got =
        LZ4_decompress_safe((const char *)e->payload, to, (int)e->stored_bytes, (int)e->bytes);
    return got >= 0 && (size_t)got == e->bytes;
}

enum st_code fatbin_extract(const struct fatbin_entry *e, char **data, size_t *bytes,
                            struct st_error *err)
{
    *data = NULL;
    *bytes = 0;
    char *buffer = malloc(e->bytes + 1);
    if (!buffer)
        return st_fail(err, ST_NO_MEMORY, "out of memory for %zu bytes of GPU code", e->bytes);
    if (e->storage == FATBIN_RAW)
        memcpy(buffer, e->payload, e->bytes);
    else if (!decompress(e, buffer)) {
        free(buffer);
        return damaged(err, ST_BAD_FORMAT,
                       e->storage == FATBIN_ZSTD ? "zstd cannot decompress an entry"
                                                 : "LZ4 cannot decompress an entry",
                       e->offset);
    }
    size_t n = e->bytes;
    if (e->kind == FATBIN_PTX) {
        while (n > 0 && buffer[n - 1] == '\0')
            n--;
    }
    buffer[n] = '\0';
    *data = buffer;
    *bytes = n;
    return ST_OK;
}
