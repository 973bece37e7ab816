/** @file
 * Names of files from any text.
 */
#pragma once

#define FILE_NAME_BYTES 256

/** Makes a file's name of any text, so that two texts never get one name and none leaves its
 * folder: letters, digits and '_' stay, and the characters of @p inside except at the beginning;
 * all others become %HH. A long name is cut and gets a hash. @return @p to */
char *file_name_of(char to[FILE_NAME_BYTES], const char *text, const char *inside);
