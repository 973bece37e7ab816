/** @file
 * Where this program's checkout (or hand-out) is.
 */
#pragma once

#include "base/status.h"

#include <limits.h>

/** The folder above the running program that holds common/conv.h.
 * @return a static string, without a final slash, or NULL with @p err set. */
const char *checkout_root(struct st_error *err);

/** The folder of the running program: build/, or build/san-... for a sanitizer build.
 * @return a static string, or NULL with @p err set. */
const char *checkout_build(struct st_error *err);

/** @return @p path as it is called in the checkout, if it is inside; else all of it. */
const char *checkout_relative(const char *path);

/** @param to  room for a path
 * @return @p path from the folder of CONVLAB_HERE, where make has left it, or the current one: relative if it is below it, or both are in the checkout; else
 * as it is. */
const char *checkout_from_here(const char *path, char to[PATH_MAX]);
