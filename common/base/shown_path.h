/** @file
 * The path of the student's file in messages: an editor can open it from the student's folder,
 * whatever the path was when the file was compiled.
 */
#pragma once

#include <stddef.h>

/** @return a path's last part. */
const char *path_base(const char *path);

/** @param source  the path of the student's file; "": unknown @return @p source if @p file has that
 * file's name, otherwise the name of @p file without folders. */
const char *path_shown(const char *file, const char *source);

/** Copies messages of a compiler or the virtual GPU; the path of the student's file becomes
 * @p source. */
void paths_show(char *to, size_t room, const char *text, const char *source);
