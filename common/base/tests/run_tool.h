/** @file
 * Runs a program of the build folder in a shell, for tests that compare transcripts.
 */
#pragma once

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/** Expects a text in a program's output. */
#define HAS(output, text) cr_expect(strstr(output, text), "'%s' is missing in:\n%s", text, output)

/** The path of the folder that `make` builds into. */
static inline const char *tool_build(void)
{
    static char path[PATH_MAX];
    const char *folder = getenv("CONVLAB_BUILD");
    cr_assert(realpath(folder ? folder : "build", path));
    return path;
}

/** Runs "build/TOOL ARGUMENTS". @param output  gets its stdout and stderr, cut off at @p room.
 * @return its status as in the shell: 128 + N after signal N. */
static inline int tool_run(const char *tool, char *output, size_t room, const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command, "%s/%s %s 2>&1", tool_build(), tool, arguments);
    FILE *f = popen(command, "r");
    cr_assert(f);
    size_t n = fread(output, 1, room - 1, f);
    output[n] = '\0';
    while (!feof(f) && !ferror(f)) { /* read the rest too, so that the tool can end */
        char rest[4096];
        n = fread(rest, 1, sizeof rest, f);
    }
    int status = pclose(f);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
