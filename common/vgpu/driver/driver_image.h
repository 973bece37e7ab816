/** @file
 * What a program may give cuModuleLoadData(): PTX text, a cubin, a fat binary or what the linker made,
 * turned into one kind of image.
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

/** Adds what @p data points to. @param bytes  how much there is, 0: as its header says; PTX ends at a NUL.
 * @return false without memory, for too many images, and for a header that makes no sense. */
bool driver_image_add(struct driver_images *to, const void *data, size_t bytes);
/** @return all images as one block, malloc'd, that driver_image_add() takes apart again; NULL without memory. */
void *driver_images_join(const struct driver_images *images, size_t *bytes);
/** Releases all images. */
void driver_images_free(struct driver_images *images);
