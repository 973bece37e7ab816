/** @file
 * The system-call filter of the sandbox (syscalls.def has the calls).
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Makes the filter, as bubblewrap takes it.
 * @param loopback  sockets for the internet are to be had
 * @param own_memory  memory is to be had as a process's own only, which can be counted: none
 * without a mapping, and none that the program shares with programs that it starts
 * @param fd  set to a descriptor of the program in the kernel's form, at its start; the caller's */
enum st_code gr_filter_open(int *fd, bool loopback, bool own_memory, struct st_error *err);

/** A refused call in words: "ptrace, to read or change another process".
 * @param number  of this machine's architecture. @return @p to. */
char *gr_filter_name(char *to, size_t room, int number);

/** Prints the table of refused calls: a name and what it is for, with a tab between. */
void gr_filter_print(FILE *out);
