/** @file
 * The private folder in which a compiler compiles a student's file.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/sandbox.h"

#include <limits.h>
#include <stddef.h>

/** Creates a folder in TMPDIR, and removes folders that killed programs have left there.
 * @param folder  set to the folder's path, without links; "" on error @param lock  set to a
 * descriptor that marks the folder as used as long as the descriptor is open */
enum st_code gr_build_folder_make(char folder[PATH_MAX], int *lock, struct st_error *err);

/** Creates the parent folders of a path inside the folder. @param name  relative to the folder */
enum st_code gr_build_folder_make_above(const char *folder, const char *name, struct st_error *err);

/** Writes a file into the folder. @param name  relative to the folder; parent folders are
 * created */
enum st_code gr_build_folder_put(const char *folder, const char *name, const char *data,
                                 size_t bytes, struct st_error *err);

/** Makes the folder and its contents belong to the user as whom compilers run in the sandbox, if
 * this is another user. */
enum st_code gr_build_folder_give(const char *folder, const struct gr_sandbox *sandbox,
                                  struct st_error *err);

/** Removes the folder with all its contents, whatever a compiler has left there, and closes the
 * lock. */
void gr_build_folder_remove(const char *folder, int lock);
