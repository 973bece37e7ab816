/** @file
 * Waits until a file is saved, whether the editor overwrites the file or renames another file to
 * its name.
 */
#pragma once

#include "base/sha256.h"
#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

/** A watched file. Its folder is watched, because after renaming, the name belongs to a different
 * file; for a link, the folder of the target is also watched. */
struct saved_file {
    char path[PATH_MAX];
    int fd; /**< readable after an event in a folder */
    int folders;
    int watch[2];
    char name[2][NAME_MAX + 1];
    char hash[SHA256_HEX]; /**< hash of the contents at the last check; "": no file */
};

/** Starts to watch a file. The file need not exist, but its folder must. Call saved_file_close()
 * even after an error. */
enum st_code saved_file_open(struct saved_file *file, const char *path, struct st_error *err);

/** Reads the pending events. @param lost  set if a folder no longer exists @return whether an event
 * concerns the file */
bool saved_file_touched(struct saved_file *file, bool *lost);

/** @return whether the contents have changed since the last call. */
bool saved_file_changed(struct saved_file *file);

/** Ends the watching. */
void saved_file_close(struct saved_file *file);
