/** @file
 * The imports of a submission's library.
 */
#pragma once

#include "grader/sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>

/** Looks for libraries that no convolution needs, and for functions that load or start other code.
 * @param message  set to the first of them, for people @return true without any, or if the library
 * cannot be read (loading it will report that) */
bool gr_library_is_plain(const struct gr_sandbox *sandbox, const char *library, char *message,
                         size_t room);
