/** @file
 * Names of submissions. They are data: whatever bytes a file's name may have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CL_NAME_BYTES = 1024, CL_SHOWN_BYTES = 512 };

/** The name that the gradebook stores: the bytes as they are if they are UTF-8, else with those
 * that are not as \\xHH. @return whether they are UTF-8. */
bool cl_name_text(char to[CL_NAME_BYTES], const char *bytes);

/** Takes the next word of a list with commas between.
 * @param at  the rest of the list, moved after the word @param to  cut if it is longer
 * @return false at the end */
bool cl_list_next(const char **at, char *to, size_t room);

/** Bytes in hexadecimal. */
void cl_name_hex(char to[2 * CL_NAME_BYTES], const char *bytes);

/** A name for people, in one line: what is not printable as \\xHH. @return @p to. */
const char *cl_name_shown(char to[CL_SHOWN_BYTES], const char *name);

/** A name for a folder, from any bytes: letters, digits, '_' and '-' stay, others become %HH; long
 * ones are cut and get a hash. Different names give different folders. @return @p to. */
const char *cl_name_folder(char to[256], const char *name);
