/** @file
 * Writes kernels' names with their parameters in nvprof's style.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Writes the signature in a mangled name (Itanium C++ ABI, section 5.1) in nvprof's style:
 * "_Z4convPKfPfi" gives "conv(float const *, float*, int)" and "_Z4tileILi8EEvPf" gives
 * "void tile<int=8>(float*)". A name that is not mangled is copied.
 * @return false for rare parts of kernels' names (function pointers, arrays, expressions, lambdas,
 * packs of parameters, names longer than @p room); @p to is then unspecified. */
bool demangle(const char *symbol, char *to, size_t room);

/** Writes a signature in the C++ library's style, which supports all names: "conv(float const*,
 * float*, int)". @return false for a name that is not mangled. */
bool demangle_by_library(const char *symbol, char *to, size_t room);
