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

/** @param to  buffer for a path @return @p path relative to the folder in CONVLAB_HERE (set by
 * make), or else to the current folder, if it is below that folder or both are in the checkout;
 * otherwise @p path unchanged. */
const char *checkout_from_here(const char *path, char to[PATH_MAX]);
