/** @file
 * A lock that processes take in turn, and that goes with its holder however that ends.
 */
#pragma once

#include "base/status.h"

/** Held by one alone, or by any number that share it. */
enum lock_kind { LOCK_ALONE, LOCK_SHARED };

/** Takes the lock that a file is, and makes the file if need be; waits for it.
 * @param fd  set to what lock_release() takes */
enum st_code lock_take(const char *path, enum lock_kind kind, int *fd, struct st_error *err);

/** Gives it back; harmless on -1. */
void lock_release(int fd);
