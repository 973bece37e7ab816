/** @file
 * Checks the imports of a submission's library.
 */
#pragma once

#include "grader/sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>

/** Looks for libraries that no convolution needs, and for functions that load or start other code.
 * @param message  describes the first of them, for people
 * @return true if there is none, or if the library cannot be read (loading it will report this) */
bool gr_library_is_plain(const struct gr_sandbox *sandbox, const char *library, char *message,
                         size_t room);
