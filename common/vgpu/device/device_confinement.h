/** @file
 * The rights that the device process gives up before it serves anybody. It executes others'
 * code, in part as machine code that it made from it.
 */
#pragma once

#include <stdbool.h>

/** From now on, for this process and its threads to come: no other program or process, no new
 * socket, and no memory that is writable and executable at once. Anything the system cannot forbid
 * stays allowed.
 * @param reads_only  also no file but for reading, and of those only the system's libraries and our
 *                    folder (Linux 5.13 and up) */
void device_confine(bool reads_only);
