/** @file
 * Names of kernels in the form of the source.
 */
#pragma once

#include <stddef.h>

/** Writes the qualified name in a mangled one, without parameters and template arguments:
 * "_ZN3lab4convEPKf" gives "lab::conv". Other names are copied. */
void name_demangle(const char *mangled, char *to, size_t room);
