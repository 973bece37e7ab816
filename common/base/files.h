/** @file
 * Reads whole files, and writes files completely or not at all.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads a whole file.
 * @param max_bytes  refuse anything larger
 * @param data       set to malloc'd contents with a NUL added at the end; the caller frees it
 * @param bytes      set to the length without that NUL
 * @return ST_OK; on error @p data is NULL and @p err has the reason. */
enum st_code file_read(const char *path, size_t max_bytes, char **data, size_t *bytes,
                       struct st_error *err);

/** A file being written without a name, or under a temporary name beside its final one. */
struct file_out {
    FILE *f; /**< write here */
    bool is_unnamed;
    char path[PATH_MAX], temporary[PATH_MAX];
};

/** Starts writing @p path. The file appears only with file_out_commit(); until then, and on any
 * error, an existing file at @p path is unchanged. A device or a pipe is written directly. */
enum st_code file_out_open(struct file_out *out, const char *path, struct st_error *err);

/** Flushes, checks for write errors (a full disk) and renames to the final name. On error the
 * temporary file is removed and the old file is untouched. */
enum st_code file_out_commit(struct file_out *out, struct st_error *err);

/** Discards the file: removes the temporary one. Harmless after a commit. */
void file_out_abort(struct file_out *out);

/** Writes a whole file, or leaves the old one unchanged. */
enum st_code file_write(const char *path, const char *data, size_t bytes, struct st_error *err);

/** Reads a whole file and writes it elsewhere. @param max_bytes  refuse anything larger */
enum st_code file_copy(const char *from, const char *to, size_t max_bytes, struct st_error *err);

/** Opens /dev/null for each closed standard stream: otherwise a new file or socket could get the
 * number of that stream and receive the program's output. Call this first in main().
 */
void files_open_standard(void);

/** Makes a folder and its parents. */
enum st_code dir_make(const char *path, struct st_error *err);

/** Removes a file, or a folder with its contents, as far as possible. Does not follow links. */
void tree_remove(const char *path);

/** @return the size of a file, or of all files in a folder, as far as accessible. Does not follow
 * links. */
uint64_t tree_bytes(const char *path);

/** The numbers N > 0 for which PREFIX + N + SUFFIX is an entry of a folder, ascending.
 * @param to  gets at most the @p most largest numbers @return how many it got */
size_t folder_numbers(const char *folder, const char *prefix, const char *suffix, long *to,
                      size_t most);

/** @return whether something exists at @p path. */
bool file_exists(const char *path);

/** Formats a path, printf style, into a buffer. @return false (and an empty string) if it does not
 * fit. */
bool path_format(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Reports that a path does not fit. @param beginning  at least its first characters
 * @return ST_TOO_LARGE */
enum st_code path_too_long(const char *beginning, struct st_error *err);

/** As path_format(). @return ST_TOO_LARGE if the path does not fit. */
enum st_code path_make(char *to, size_t room, struct st_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
