/** @file
 * File names made from any text.
 */
#pragma once

#define FILE_NAME_BYTES 256

/** Makes a file name from any text. Different texts get different names, and no name leads out of
 * its folder. Letters, digits and '_' are kept, as are the characters of @p inside except at the
 * beginning; all others become %HH. A long name is cut, and a hash is appended. @return @p to */
char *file_name_of(char to[FILE_NAME_BYTES], const char *text, const char *inside);
