/** @file
 * Waiting until a file is saved, however its editor does that: written in place, or under another
 * name that is renamed.
 */
#pragma once

#include "base/sha256.h"
#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

/** A file that is watched: its folder is, since a renamed file is another file. Of a link, that of
 * the file it leads to, too. */
struct saved_file {
    char path[PATH_MAX];
    int fd; /**< readable when something happened in a folder */
    int folders;
    int watch[2];
    char name[2][NAME_MAX + 1];
    char hash[SHA256_HEX]; /**< of the contents that were seen last; "": there was no file */
};

/** Starts to watch. The file need not exist, but its folder must. End with saved_file_close(),
 * also after an error. */
enum st_code saved_file_open(struct saved_file *file, const char *path, struct st_error *err);

/** Takes what has happened. @param lost  set if a folder no longer exists
 * @return whether something was done to the file */
bool saved_file_touched(struct saved_file *file, bool *lost);

/** @return whether the contents are other than they were the last time. */
bool saved_file_changed(struct saved_file *file);

/** Ends it. */
void saved_file_close(struct saved_file *file);
