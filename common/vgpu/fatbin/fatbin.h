/** @file
 * Reader of fat binaries, in which nvcc embeds device code in a program.
 *
 * A container is a header, followed by entries. An entry is a header of variable length, followed
 * by the payload: PTX text or a cubin (ELF), raw, or compressed with zstd or as one LZ4 block:
 *
 *     container  u32 0xBA55ED50 | u16 version 1 | u16 header length 16 | u64 length of all entries
 *     entry   0  u16 kind (1 PTX, 2 ELF) | u16 0x101 | u32 header length | u64 payload length (padded)
 *            16  u32 compressed length | u32 options offset | u16 minor | u16 major | u32 sm
 *            32  u32 name offset | u32 name length | u64 flags | u64 0 | u64 uncompressed length
 *     flags      0x2000 LZ4 block, 0x8000 zstd
 *
 * Every field of the input is checked, lengths against the remaining bytes, so that nothing is read
 * past the end of the image.
 */
#pragma once

#include "base/status.h"
#include "vgpu/api/vgpu.h"
#include "vgpu/fatbin/fatbin_wrapper.h"

#include <stddef.h>

#define FATBIN_HEADER_BYTES 16
/** PTX of a newer major version is rejected. Minor versions add instructions; the decoder reports
 * unknown ones by name and line. */
#define FATBIN_PTX_MAJOR 9
/** The oldest architecture for which nvcc 13 compiles. */
#define FATBIN_OLDEST_SM 75

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };
enum fatbin_storage { FATBIN_RAW, FATBIN_LZ4, FATBIN_ZSTD };

/** One entry. It points into the image. */
struct fatbin_entry {
    int kind; /**< enum fatbin_kind, or another kind, which is skipped */
    enum fatbin_storage storage;
    int sm;           /**< 75 for sm_75 or compute_75 */
    bool specific;    /**< for sm_90a or compute_90a, which run on sm_90 only */
    int major, minor; /**< PTX: language version; ELF: format version */
    const unsigned char *payload;
    size_t stored_bytes, bytes; /**< size in the image, and after decompression */
    size_t offset;              /**< of the entry in the image, for messages */
};

/** The entries of one image. */
struct fatbin {
    struct fatbin_entry *entries;
    size_t n;
};

/** Indexes an image. @param image  must stay while @p to is in use.
 * @return ST_OK; ST_TRUNCATED or ST_BAD_FORMAT with the offset in @p err; @p to is then empty. */
enum st_code fatbin_open(struct fatbin *to, const void *image, size_t bytes, struct st_error *err);
/** Frees the index. Harmless on a zeroed one. */
void fatbin_close(struct fatbin *fatbin);

/** Chooses the PTX for a device: the newest architecture not above the device's, and of PTX for
 * compute_90 and compute_90a the latter (nvcc -arch=sm_90a embeds both). The oldest PTX is
 * chosen if a GPU would run machine code instead, or if the device is older than FATBIN_OLDEST_SM
 * (a profile for timing only).
 * @return NULL: no PTX in the image. */
const struct fatbin_entry *fatbin_best_ptx(const struct fatbin *fatbin, int sm);
/** @return the cubin for the architecture nearest to @p sm, or NULL. */
const struct fatbin_entry *fatbin_best_cubin(const struct fatbin *fatbin, int sm);

/** Decompresses an entry. @param data  becomes the malloc'd contents with a NUL added; the caller
 * frees it.
 * @param bytes  becomes the length; for PTX, without the padding NULs at the end. */
enum st_code fatbin_extract(const struct fatbin_entry *entry, char **data, size_t *bytes,
                            struct st_error *err);

/** Reads facts about each kernel (all but vg_kernel_info.sm) from a cubin's sections. @param list
 * becomes a malloc'd array (NULL if empty). @return ST_BAD_FORMAT for an invalid cubin. */
enum st_code cubin_kernels(const void *cubin, size_t bytes, struct vg_kernel_info **list, size_t *n,
                           struct st_error *err);

/** A fat binary prepared for vg_module_load(). */
struct fatbin_module {
    char *ptx; /**< NUL-terminated, owned */
    size_t ptx_bytes;
    struct vg_kernel_info *kernels; /**< owned */
    size_t kernel_count;
};

/** Prepares one image with the functions above. @return ST_NOT_FOUND: machine code without PTX;
 * ST_TOO_LARGE: PTX newer than FATBIN_PTX_MAJOR. An unreadable cubin is ignored, since it only
 * holds hints. */
enum st_code fatbin_module_read(struct fatbin_module *to, const void *image, size_t bytes, int sm,
                                struct st_error *err);
void fatbin_module_free(struct fatbin_module *module);

/** Finds the PTX in a library that nvcc linked: the first source's that has kernels. Every field of
 * the file is checked.
 * @param ptx  becomes malloc'd text with a NUL added; NULL after an error. @return ST_NOT_FOUND: no
 * PTX */
enum st_code fatbin_library_ptx(const char *path, char **ptx, size_t *bytes, struct st_error *err);
