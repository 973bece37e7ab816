/** @file
 * Checks a program before it runs on the virtual GPU: which CUDA runtime it uses.
 */
#pragma once

#include "base/status.h"
#include "vgpu/device/device_process.h"

#include <stddef.h>

/** Finds a program as the shell does. @param to  PATH_MAX bytes. */
enum st_code program_find(char *to, const char *name, struct st_error *err);

/** Checks a program file. A file that is not ELF (a script) or has no GPU code is accepted.
 * @param preload  becomes the library that the program must preload, to replace NVIDIA's runtime
 *                 inside it (cudart/own_runtime.c).
 * @return ST_USAGE, with a hint, if the program has GPU code but no replaceable runtime. */
enum st_code program_check(const char *path, enum vg_preload *preload, struct st_error *err);

/** program_check() for a file in memory. */
enum st_code program_check_image(const void *image, size_t bytes, enum vg_preload *preload,
                                 struct st_error *err);
