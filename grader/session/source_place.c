#include "grader/session/source_place.h"

#include "grader/sandbox/confined.h"
#include "base/printable.h"
#include "base/shown_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joins two lines of addr2line's output: the function, and FILE:LINE. */
static void make_place(char *said, const char *source, char *to, size_t room)
{
    char shown[2][128];
    char *newline = strchr(said, '\n');
    if (!newline)
        return;
    *newline = '\0';
    char *function = said, *file = newline + 1;
    file[strcspn(file, "\n")] = '\0';
    /* OpenMP bodies are separate functions, "conv_forward._omp_fn.0". */
    function[strcspn(function, ".")] = '\0';
    file[strcspn(file, " ")] = '\0';
    char *line = strrchr(file, ':');
    if (file[0] == '?' || !line)
        return;
    *line++ = '\0';
    snprintf(to, room, "%.100s:%.10s in %.60s()",
             text_printable(shown[0], sizeof shown[0], path_shown(file, source)), line,
             text_printable(shown[1], sizeof shown[1], function));
}

/* Runs a tool on the student's library. @return its output, to be freed; or NULL. */
static char *run_tool(const struct gr_sandbox *sandbox, const char *library,
                      const char *const argv[])
{
    static const struct gr_limits limits = {.wall_s = 20,
                                            .cpu_s = 10,
                                            .address_bytes = (size_t)1 << 30,
                                            .file_bytes = 1,
                                            .processes = 8};
    const struct gr_confined_options options = {
        .argv = argv, .shown = library, .limits = limits, .keep_bytes = 4096};
    struct gr_confined_result result = {.output = NULL};
    struct st_error ignored;
    if (gr_confined_run(sandbox, &options, &result, &ignored) == ST_OK && result.exit_status == 0)
        return result.output;
    free(result.output);
    return NULL;
}

void gr_source_place(const struct gr_sandbox *sandbox, const char *library, const char *source,
                     uint64_t offset, char *to, size_t room)
{
    char at[32];
    snprintf(at, sizeof at, "0x%llx", (unsigned long long)offset);
    snprintf(to, room, "offset %s of the library", at);
    const char *const argv[] = {"addr2line", "-f", "-e", library, at, NULL};
    char *said = run_tool(sandbox, library, argv);
    if (said)
        make_place(said, source, to, room);
    free(said);
}

/* Whether a function comes from the source, not from the compiler, and is not a launch stub. */
static bool is_own(const char *name)
{
    static const char *const others[] = {"_", "__", "std::", "cuda", "operator"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return name[0] != '\0';
}

bool gr_source_exports(const struct gr_sandbox *sandbox, const char *library, const char *entry,
                       char *to, size_t room)
{
    const char *const argv[] = {"nm", "-DC", "--defined-only", library, NULL};
    char *said = run_tool(sandbox, library, argv), *next = said;
    bool mangled = false;
    size_t used = 0;
    to[0] = '\0';
    for (char *line; (line = strsep(&next, "\n"));) {
        char shown[128];
        const char *name = strstr(line, " T ");
        if (!name || !is_own(name + 3))
            continue;
        const size_t length = strlen(entry);
        mangled |= strncmp(name + 3, entry, length) == 0 && name[3 + length] == '(';
        if (used < room)
            used += (size_t)snprintf(to + used, room - used, "%s%.100s", used ? ", " : "",
                                     text_printable(shown, sizeof shown, name + 3));
    }
    free(said);
    return mangled;
}
