/** @file
 * The code of a C source in PTX, the language in which kernels are compared.
 */
#pragma once

/** Compiles a C source to PTX, in the sandbox. @return the text, malloc'd; NULL if there is no
 * clang that writes PTX or no sandbox, or if the source cannot be compiled to PTX (for example
 * because of a processor's intrinsics) */
char *si_c_code(const char *source);
