/** @file
 * The rights that the device process gives up before it serves clients: it executes untrusted code,
 * partly as machine code translated from it.
 */
#pragma once

#include <stdbool.h>

/** Forbids this process and its future threads: starting programs or processes, creating sockets,
 * and memory that is writable and executable at once. Rights that the system cannot remove
 * remain.
 * @param reads_only  also forbids files, except for reading the folders of libraries, the folder
 * build/ and a few files of /proc (Linux 5.13 or later) */
void device_confine(bool reads_only);
