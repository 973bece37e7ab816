/** @file
 * Finds the source line of an offset in a compiled library.
 */
#pragma once

#include "grader/sandbox/sandbox.h"

#include <stddef.h>
#include <stdint.h>

/** Describes a place in a library as "conv.c:23 in conv_forward", by addr2line (binutils), which is
 * confined because names and debug information are the student's; without that program, or without
 * debug information, as an offset.
 * @param to  filled, NUL-terminated. */
void gr_source_place(const struct gr_sandbox *sandbox, const char *library, const char *source,
                     uint64_t offset, char *to, size_t room);

/** Names the functions that a library exports, in the source's form: "conv_forward_gpu(...),
 * helper(int)".
 * @return whether one of them is @p entry with a C++ name. */
bool gr_source_exports(const struct gr_sandbox *sandbox, const char *library, const char *entry,
                       char *to, size_t room);
