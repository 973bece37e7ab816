/** @file
 * The code of a C source in the language that kernels are compared in.
 */
#pragma once

/** Compiles a C source to PTX, in the sandbox. @return the text, malloc'd; NULL if there is no clang that writes
 * PTX, no sandbox, or the source does not compile so (intrinsics of a processor do not) */
char *si_c_code(const char *source);
