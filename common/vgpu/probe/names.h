/** @file
 * Names of kernels as the source writes them.
 */
#pragma once

#include <stddef.h>

/** Writes the qualified name that a mangled name contains, without parameters and template
 * arguments: "lab::conv" for "_ZN3lab4convEPKf". Copies other names. */
void name_demangle(const char *mangled, char *to, size_t room);
