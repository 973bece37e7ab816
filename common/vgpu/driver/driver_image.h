/** @file
 * Images for cuModuleLoadData(): PTX text, a cubin, a fat binary or output of the linker, all
 * converted to one form.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { DRIVER_IMAGES_MAX = 256 };

/** Containers (fatbin.h), each malloc'd. */
struct driver_images {
    void *list[DRIVER_IMAGES_MAX];
    size_t n;
};

/** Adds the image at @p data. @param bytes  its length; 0: determined by its header, or by the NUL
 * after PTX. @return false: out of memory, too many images, or an invalid header. */
bool driver_image_add(struct driver_images *to, const void *data, size_t bytes);
/** @return all images as one malloc'd block, which driver_image_add() can read; NULL: out of
 * memory. */
void *driver_images_join(const struct driver_images *images, size_t *bytes);
/** Releases all images. */
void driver_images_free(struct driver_images *images);
