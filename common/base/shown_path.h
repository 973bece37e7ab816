/** @file
 * The student's file as it is called in messages: by a path that an editor opens from where the student
 * stands, whatever the file was called where it was compiled.
 */
#pragma once

#include <stddef.h>

/** @return a path's last part. */
const char *path_base(const char *path);

/** @param source  how the student's file is called; "": nobody knows
 * @return @p source if @p file is that file, by its name, else the name of @p file without its folders. */
const char *path_shown(const char *file, const char *source);

/** Copies what a compiler or the virtual GPU said, with the student's file by that path. */
void paths_show(char *to, size_t room, const char *text, const char *source);
