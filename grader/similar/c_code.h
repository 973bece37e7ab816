/** @file
 * The code of a C source in PTX, the language in which kernels are compared.
 */
#pragma once

/** Compiles a C source to PTX, in the sandbox. @return the text, malloc'd; NULL without a clang
 * that writes PTX, without a sandbox, or if the source does not compile for PTX (for example with
 * intrinsics of a processor) */
char *si_c_code(const char *source);
