/** @file
 * The system-call filter of the sandbox (syscalls.def has the calls).
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Makes the filter in the form for bubblewrap.
 * @param loopback  allow internet sockets
 * @param own_memory  allow only private memory, which can be counted: no files in memory, and no
 * memory shared with programs that the process starts
 * @param fd  set to a descriptor of the filter program in the kernel's form, positioned at its
 * start; the caller owns it */
enum st_code gr_filter_open(int *fd, bool loopback, bool own_memory, struct st_error *err);

/** Describes a refused call: "ptrace, to read or change another process".
 * @param number  for this machine's architecture. @return @p to. */
char *gr_filter_name(char *to, size_t room, int number);

/** Prints the table of refused calls: a name and its purpose, separated by a tab. */
void gr_filter_print(FILE *out);
