/** @file
 * Names of submissions. They are data, with any bytes that a file name may have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CL_NAME_BYTES = 1024, CL_SHOWN_BYTES = 512 };

/** The name that the gradebook stores: the bytes themselves if they are UTF-8; otherwise, bytes
 * that are not are written as \\xHH. @return whether they are UTF-8. */
bool cl_name_text(char to[CL_NAME_BYTES], const char *bytes);

/** Takes the next word of a list separated by commas.
 * @param at  the rest of the list, moved after the word @param to  cut if it is longer
 * @return false at the end */
bool cl_list_next(const char **at, char *to, size_t room);

/** Writes bytes in hexadecimal. */
void cl_name_hex(char to[2 * CL_NAME_BYTES], const char *bytes);

/** A name for people to read, on one line: unprintable bytes become \\xHH. @return @p to. */
const char *cl_name_shown(char to[CL_SHOWN_BYTES], const char *name);

/** A folder's name, made from any bytes: letters, digits, '_' and '-' stay, others become %HH; long
 * ones are cut and get a hash. Different names give different folders. @return @p to. */
const char *cl_name_folder(char to[256], const char *name);
