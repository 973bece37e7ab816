/** @file
 * Compiles one source file of a student, as the milestone's lab would be compiled, in a separate
 * folder.
 *
 * Only this file is copied, so that the compiler does not see other files in its folder. Concurrent
 * builds are independent: each has its own folder, and nothing is written in the checkout.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/sandbox.h"

#include <limits.h>
#include <stdbool.h>

enum { GR_SOURCE_MAX_BYTES = 1 << 20, GR_COMMAND_ARGUMENTS = 64 };

/** The names for the compiler's command line, relative to the folder of the build. */
#define GR_SOURCE_INCLUDE "include"
#define GR_SOURCE_LIBRARY "libconv.so"

/** The result of a build. */
struct gr_source_build {
    char folder[PATH_MAX];  /**< the private folder of the build; "": none */
    int lock;               /**< open while the folder exists */
    char library[PATH_MAX]; /**< path of the library in that folder */
    bool built;
    char said[16384]; /**< the compiler's output (escaped, limited in length), or the reason why
                           there is no library */
    char pattern[32]; /**< if not built: "compile_error", "compile_limit" or "bad_file" */
};

#define GR_SOURCE_BUILD_NONE ((struct gr_source_build){.built = false})

/** Compiles a file.
 * @param source   the student's file
 * @param name     its name in the folder: "conv.cu"
 * @param header   path of conv.h, or of another exercise's header
 * @param command  the compiler's command, one argument per line: it compiles @p name, includes from
 * GR_SOURCE_INCLUDE, and writes GR_SOURCE_LIBRARY
 * @return ST_OK if the submission was judged: a submission that is not a file, is too large or does
 * not compile is its author's fault; see `built` and `said`. Any other status: the file could not
 * be compiled on this machine. In all cases, call gr_source_build_free(). */
enum st_code gr_source_build(struct gr_source_build *build, const struct gr_sandbox *sandbox,
                             const char *source, const char *name, const char *header,
                             const char *command, struct st_error *err);

/** The paths of a lab in a checkout. */
struct gr_lab_files {
    const char *root;    /**< the checkout */
    const char *source;  /**< path in the checkout: "labs/m1-cpu-conv/conv.c" */
    const char *library; /**< path in the checkout: "build/labs/m1/libconv.so" */
};

/** Compiles a lab in the checkout, with the command that would compile it there. In the sandbox,
 * the folder of the build has the checkout's path, so that messages and line tables name the
 * student's own file; without a sandbox, the lab is compiled in the checkout itself.
 * @param argv  the command, NULL-terminated
 * @param stop  a descriptor that ends the compiler when it becomes readable; 0: none
 * @return as gr_source_build(): build->library is the library's path, which is the lab's own path
 * only without a sandbox */
enum st_code gr_lab_build(struct gr_source_build *build, const struct gr_sandbox *sandbox,
                          const struct gr_lab_files *lab, const char *const *argv, int stop,
                          struct st_error *err);

/** Splits a compiler's command, one argument per line, in place.
 * @param argv  set to the words, NULL-terminated, which point into @p command */
enum st_code gr_command_split(char *command, const char *argv[GR_COMMAND_ARGUMENTS + 1],
                              struct st_error *err);

/** Replaces the lab's library by the one that gr_lab_build() has built, if the paths differ. */
enum st_code gr_lab_install(const struct gr_source_build *build, const struct gr_sandbox *sandbox,
                            const struct gr_lab_files *lab, struct st_error *err);

/** Removes the folder of the build; harmless on GR_SOURCE_BUILD_NONE. */
void gr_source_build_free(struct gr_source_build *build);
