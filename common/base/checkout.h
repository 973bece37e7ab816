/** @file
 * Finds this program's checkout (or hand-out).
 */
#pragma once

#include "base/status.h"

#include <limits.h>

/** The folder above the running program that contains common/conv.h.
 * @return a static string, without a final slash, or NULL with @p err set. */
const char *checkout_root(struct st_error *err);

/** The folder of the running program: build/, or build/san-... for a sanitizer build.
 * @return a static string, or NULL with @p err set. */
const char *checkout_build(struct st_error *err);

/** @return @p path relative to the checkout if it is inside; otherwise the whole path. */
const char *checkout_relative(const char *path);

/** Makes a path relative to the folder in CONVLAB_HERE (set by make) or, if it is not set, to the
 * current folder. @param to  buffer for the result @return @p path unchanged, if it is neither in
 * that folder nor in the same checkout as the folder. */
const char *checkout_from_here(const char *path, char to[PATH_MAX]);
