/** @file
 * The student's file in messages: as a path that an editor can open from the student's folder,
 * whatever the file's path was when it was compiled.
 */
#pragma once

#include <stddef.h>

/** @return a path's last part. */
const char *path_base(const char *path);

/** @param source  the path of the student's file; "": unknown @return @p source if @p file has that
 * file's name, otherwise the name of @p file without folders. */
const char *path_shown(const char *file, const char *source);

/** Copies messages of a compiler or the virtual GPU, and shows @p source instead of the student's file's path. */
void paths_show(char *to, size_t room, const char *text, const char *source);
