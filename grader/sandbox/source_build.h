/** @file
 * One source file of a student's, compiled as its milestone's lab is, in a separate folder.
 *
 * Nothing but the file is taken: it is copied, so that what is beside it is not there for the
 * compiler. Several builds at once do not meet: each has its own folder, and nothing in the
 * checkout is written.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/sandbox.h"

#include <limits.h>
#include <stdbool.h>

enum { GR_SOURCE_MAX_BYTES = 1 << 20, GR_COMMAND_ARGUMENTS = 64 };

/** The names that the compiler's command line is to have, relative to the folder of the build. */
#define GR_SOURCE_INCLUDE "include"
#define GR_SOURCE_LIBRARY "libconv.so"

/** A build. */
struct gr_source_build {
    char folder[PATH_MAX];  /**< private; "": there is none */
    int lock;               /**< open while the folder exists */
    char library[PATH_MAX]; /**< the library in it */
    bool built;
    char said[16384]; /**< what the compiler said (escaped, capped), or why it is not built */
    char pattern[32]; /**< not built: "compile_error", "compile_limit" or "bad_file" */
};

#define GR_SOURCE_BUILD_NONE ((struct gr_source_build){.built = false})

/** Compiles a file.
 * @param source   the student's file
 * @param name     what it is called in the folder: "conv.cu"
 * @param header   path of conv.h, or of another exercise's header
 * @param command  the compiler's, an argument a line: takes @p name, includes from
 *                 GR_SOURCE_INCLUDE and writes GR_SOURCE_LIBRARY
 * @return ST_OK if the submission was judged: one that is not a file, is too large or does not
 * compile is its author's fault, see `built` and `said`. Anything else: it could not be built here.
 * Either way the caller calls gr_source_build_free(). */
enum st_code gr_source_build(struct gr_source_build *build, const struct gr_sandbox *sandbox,
                             const char *source, const char *name, const char *header,
                             const char *command, struct st_error *err);

/** Where a lab is in a checkout. */
struct gr_lab_files {
    const char *root;    /**< the checkout */
    const char *source;  /**< in it: "labs/m1-cpu-conv/conv.c" */
    const char *library; /**< in it: "build/labs/m1/libconv.so" */
};

/** Compiles a lab that is in the checkout, with the command that would compile it there. In the
 * sandbox the folder of the build has the checkout's place, so that messages and line tables name
 * the student's own file; without a sandbox the checkout itself is compiled in.
 * @param argv  the command, NULL-terminated
 * @param stop  a descriptor that ends it by being readable; 0: none
 * @return as gr_source_build(): the library is where build->library says, which is only without a
 *         sandbox the lab's own path */
enum st_code gr_lab_build(struct gr_source_build *build, const struct gr_sandbox *sandbox,
                          const struct gr_lab_files *lab, const char *const *argv, int stop,
                          struct st_error *err);

/** Splits a compiler's command, an argument a line, in place.
 * @param argv  set to its words, NULL-terminated; they are in @p command */
enum st_code gr_command_split(char *command, const char *argv[GR_COMMAND_ARGUMENTS + 1],
                              struct st_error *err);

/** Puts what gr_lab_build() has built in the place of the lab's library, where that is another. */
enum st_code gr_lab_install(const struct gr_source_build *build, const struct gr_sandbox *sandbox,
                            const struct gr_lab_files *lab, struct st_error *err);

/** Removes the folder; harmless on GR_SOURCE_BUILD_NONE. */
void gr_source_build_free(struct gr_source_build *build);
