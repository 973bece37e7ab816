/** @file
 * Names of submissions. They are data, with any bytes that a file name may have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CL_NAME_BYTES = 1024, CL_SHOWN_BYTES = 512 };

/** Makes the name that the gradebook stores: the bytes themselves if they are UTF-8; otherwise,
 * invalid bytes are written as \\xHH. @return whether all bytes are UTF-8. */
bool cl_name_text(char to[CL_NAME_BYTES], const char *bytes);

/** Takes the next word of a comma-separated list.
 * @param at  the rest of the list, moved after the word @param to  set to the word, cut to fit
 * @return false at the end */
bool cl_list_next(const char **at, char *to, size_t room);

/** Writes bytes in hexadecimal. */
void cl_name_hex(char to[2 * CL_NAME_BYTES], const char *bytes);

/** Makes a name printable, on one line: unprintable bytes become \\xHH. @return @p to. */
const char *cl_name_shown(char to[CL_SHOWN_BYTES], const char *name);

/** Makes a folder's name from any bytes: letters, digits, '_' and '-' stay, other bytes become %HH;
 * long names are cut and get a hash. Different names give different folders. @return @p to. */
const char *cl_name_folder(char to[256], const char *name);
