#include "grader/export/container.h"

#include "base/files.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_PART_BYTES = 512 << 20, MAX_PARTS = 16 };

/* ---- zip: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT,
 * sections 4.3.7, 4.3.12, 4.3.16 ----
 *
 *     header, contents   for each part
 *     directory          the headers again, with modes and offsets
 *     end                the directory's position */

struct zip_entry {
    uint32_t crc, bytes, offset;
};

static void put2(FILE *out, unsigned value)
{
    fputc((int)(value & 255), out);
    fputc((int)(value >> 8 & 255), out);
}

static void put4(FILE *out, uint32_t value)
{
    put2(out, value & 0xffff);
    put2(out, value >> 16);
}

/* Writes the part that header and directory have in common: not compressed, 1980-01-01 00:00. */
static void zip_common(FILE *out, const struct gx_part *part, const struct zip_entry *entry)
{
    put2(out, 10); /* version needed: 1.0 */
    put2(out, 0);
    put2(out, 0);
    put2(out, 0);
    put2(out, 1 << 5 | 1);
    put4(out, entry->crc);
    put4(out, entry->bytes);
    put4(out, entry->bytes);
    put2(out, (unsigned)strlen(part->name));
    put2(out, 0);
}

static void zip_part(FILE *out, const struct gx_part *part, const char *data, size_t bytes,
                     struct zip_entry *entry)
{
    entry->crc = (uint32_t)crc32(crc32(0, NULL, 0), (const unsigned char *)data, (unsigned)bytes);
    entry->bytes = (uint32_t)bytes;
    entry->offset = (uint32_t)ftell(out);
    put4(out, 0x04034b50);
    zip_common(out, part, entry);
    fputs(part->name, out);
    fwrite(data, 1, bytes, out);
}

static void zip_end(FILE *out, const struct gx_part *parts, const struct zip_entry *entries,
                    size_t n)
{
    enum { UNIX = 3, REGULAR = 0100000 };
    uint32_t start = (uint32_t)ftell(out);
    for (size_t i = 0; i < n; i++) {
        put4(out, 0x02014b50);
        put2(out, UNIX << 8 | 20);
        zip_common(out, &parts[i], &entries[i]);
        put2(out, 0); /* no comment */
        put2(out, 0); /* first disk */
        put2(out, 0);
        put4(out, (REGULAR | parts[i].mode) << 16);
        put4(out, entries[i].offset);
        fputs(parts[i].name, out);
    }
    uint32_t end = (uint32_t)ftell(out);
    put4(out, 0x06054b50);
    put4(out, 0);
    put2(out, (unsigned)n);
    put2(out, (unsigned)n);
    put4(out, end - start);
    put4(out, start);
    put2(out, 0);
}

/* ---- tar: POSIX.1 "ustar", blocks of 512 bytes ----------------------------------------------- */

enum { BLOCK = 512 };

static void tar_part(FILE *out, const struct gx_part *part, const char *data, size_t bytes)
{
    static const char zeros[BLOCK];
    char header[BLOCK] = {0};
    snprintf(header, 100, "%s", part->name);
    snprintf(header + 100, 8, "%07o", part->mode);
    snprintf(header + 108, 8, "%07o", 0);
    snprintf(header + 116, 8, "%07o", 0);
    snprintf(header + 124, 12, "%011zo", bytes);
    snprintf(header + 136, 12, "%011o", 0);
    memset(header + 148, ' ', 8); /* while the checksum is computed, its own field contains
                                     blanks */
    header[156] = '0';
    memcpy(header + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    fwrite(header, 1, BLOCK, out);
    fwrite(data, 1, bytes, out);
    fwrite(zeros, 1, (BLOCK - bytes % BLOCK) % BLOCK, out);
}

static void tar_end(FILE *out)
{
    static const char zeros[2 * BLOCK];
    fwrite(zeros, 1, sizeof zeros, out);
}

/* --------------------------------------------------------------------------------------------- */

enum st_code gx_container_write(enum gx_container container, const struct gx_part *parts, size_t n,
                                const char *path, struct st_error *err)
{
    struct zip_entry entries[MAX_PARTS];
    struct file_out out;
    assert(n <= MAX_PARTS);
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    for (size_t i = 0; i < n && !code; i++) {
        char *read = NULL;
        size_t bytes = parts[i].path ? 0 : strlen(parts[i].text);
        if (parts[i].path)
            code = file_read(parts[i].path, MAX_PART_BYTES, &read, &bytes, err);
        if (!code && container == GX_ZIP)
            zip_part(out.f, &parts[i], read ? read : parts[i].text, bytes, &entries[i]);
        else if (!code)
            tar_part(out.f, &parts[i], read ? read : parts[i].text, bytes);
        free(read);
    }
    if (code) {
        file_out_abort(&out);
        return code;
    }
    if (container == GX_ZIP)
        zip_end(out.f, parts, entries, n);
    else
        tar_end(out.f);
    return file_out_commit(&out, err);
}
