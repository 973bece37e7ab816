/** @file
 * Files that are read whole and files that are written whole or not at all.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads a whole file.
 * @param max_bytes  refuse anything larger
 * @param data       set to malloc'd contents with a NUL added behind; the caller frees it
 * @param bytes      set to the length without that NUL
 * @return ST_OK; on error @p data is NULL and @p err says why. */
enum st_code file_read(const char *path, size_t max_bytes, char **data, size_t *bytes,
                       struct st_error *err);

/** A file being written under a temporary name beside its final one. */
struct file_out {
    FILE *f; /**< write here */
    char path[PATH_MAX], temporary[PATH_MAX];
};

/** Starts writing @p path. The file appears only with file_out_commit(); until then, and on any
 * error, whatever was at @p path stays as it was. A device or a pipe is written to directly. */
enum st_code file_out_open(struct file_out *out, const char *path, struct st_error *err);

/** Flushes, checks for write errors (a full disk) and renames to the final name. On error the
 * temporary file is removed and the old file is untouched. */
enum st_code file_out_commit(struct file_out *out, struct st_error *err);

/** Gives up: removes the temporary file. Harmless after a commit. */
void file_out_abort(struct file_out *out);

/** Writes a whole file, or leaves the old one unchanged. */
enum st_code file_write(const char *path, const char *data, size_t bytes, struct st_error *err);

/** Reads a whole file and writes it elsewhere. @param max_bytes  refuse anything larger */
enum st_code file_copy(const char *from, const char *to, size_t max_bytes, struct st_error *err);

/** Opens those of the three standard streams that are closed, on /dev/null:
 * else a file or socket gets such a number, and what is printed goes there. First thing in main().
 */
void files_open_standard(void);

/** Makes a folder and its parents. */
enum st_code dir_make(const char *path, struct st_error *err);

/** Removes a file, or a folder with its contents, as far as possible. Follows no links. */
void tree_remove(const char *path);

/** @return the sizes of a file, or of all files in a folder, as far as they can be seen. Follows no links. */
uint64_t tree_bytes(const char *path);

/** The numbers N > 0 for which PREFIX + N + SUFFIX is an entry of a folder, ascending.
 * @param to  gets the largest @p most of them @return how many it got */
size_t folder_numbers(const char *folder, const char *prefix, const char *suffix, long *to,
                      size_t most);

/** @return whether something exists at @p path. */
bool file_exists(const char *path);

/** Joins printf style into a path buffer. @return false (and an empty string) if it does not fit.
 */
bool path_format(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
