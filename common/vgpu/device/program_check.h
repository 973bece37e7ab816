/** @file
 * Looks at a program before it is run on the virtual GPU: a program that carries the CUDA runtime
 * in itself would look for a real GPU and find none.
 */
#ifndef CONVLAB_VGPU_PROGRAM_CHECK_H
#define CONVLAB_VGPU_PROGRAM_CHECK_H

#include "base/status.h"

#include <stddef.h>

/** Finds a program as the shell does. @param to  of PATH_MAX bytes. */
enum st_code program_find(char *to, const char *name, struct st_error *err);

/** Checks a program file. What is not an ELF file (a script) or has no GPU code is fine.
 * @return ST_USAGE, with a hint, when it has GPU code but not the shared CUDA runtime of
 * version 13. */
enum st_code program_check(const char *path, struct st_error *err);

/** The same for a file in memory. */
enum st_code program_check_image(const void *image, size_t bytes, struct st_error *err);

#endif
