/** @file
 * The rights that the device process gives up before it serves clients. It executes untrusted code,
 * in part as machine code translated from it.
 */
#pragma once

#include <stdbool.h>

/** Forbids this process and its future threads: starting programs or processes, creating sockets,
 * and memory that is writable and executable at once. Everything that the system cannot forbid
 * stays allowed.
 * @param reads_only  also forbids files, except for reading the system's libraries and our folder
 * (Linux 5.13 and up) */
void device_confine(bool reads_only);
