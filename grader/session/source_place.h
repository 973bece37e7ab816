/** @file
 * Finds the source line of an offset in a compiled library.
 */
#pragma once

#include "grader/sandbox/sandbox.h"

#include <stddef.h>
#include <stdint.h>

/** Describes a code address in a library as "conv.c:23 in conv_forward", or as an offset if
 * addr2line (binutils) or debug information is missing. addr2line is confined, because the
 * student's file provides names and debug information.
 * @param to  filled, NUL-terminated. */
void gr_source_place(const struct gr_sandbox *sandbox, const char *library, const char *source,
                     uint64_t offset, char *to, size_t room);

/** Lists the functions that a library exports, as declared in the source: "conv_forward_gpu(...),
 * helper(int)".
 * @return whether one is @p entry with a mangled C++ name. */
bool gr_source_exports(const struct gr_sandbox *sandbox, const char *library, const char *entry,
                       char *to, size_t room);
