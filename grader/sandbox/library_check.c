/* A convolution needs only the C library, mathematics, OpenMP and the CUDA runtime. The dynamic
 * section lists the libraries with which a submission is linked, and the symbol table the functions
 * that it imports; objdump, from the compiler's package, reads both. Calls of dlopen() are refused
 * at run time (runner/loading.h); the sandbox hides libraries that code could find by other
 * means. */
#include "grader/sandbox/library_check.h"

#include "grader/sandbox/confined.h"
#include "base/printable.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prefixes of the names of libraries with which a lab may be linked. */
static const char *const usual[] = {
    "libc.so.",      "libm.so.",       "libmvec.so.",  "libgomp.so.", "libgcc_s.so.",
    "libstdc++.so.", "libpthread.so.", "libdl.so.",    "librt.so.",   "libcudart.so.",
    "ld-linux",      "libasan.so.",    "libubsan.so.", "libtsan.so.", "linux-vdso"};

static const struct {
    const char *name, *purpose;
} functions[] = {{"system", "starts other programs"},      {"popen", "starts other programs"},
                 {"execve", "starts other programs"},      {"execv", "starts other programs"},
                 {"execvp", "starts other programs"},      {"execl", "starts other programs"},
                 {"execlp", "starts other programs"},      {"posix_spawn", "starts other programs"},
                 {"posix_spawnp", "starts other programs"}};

static bool is_usual(const char *name)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strncmp(name, usual[i], strlen(usual[i])) == 0)
            return true;
    return false;
}

/* Checks a line of objdump: "  NEEDED  libx.so.1", or "0... DF *UND* 0... (GLIBC_2.34) dlopen". */
static bool line_is_plain(const char *line, char *message, size_t room)
{
    char name[256], shown[256];
    if (sscanf(line, " NEEDED %255s", name) == 1 && !is_usual(name)) {
        snprintf(message, room, "the library is linked with %s, but a lab must do the work itself",
                 text_printable(shown, sizeof shown, name));
        return false;
    }
    const char *last = strrchr(line, ' ');
    for (size_t i = 0; last && strstr(line, "*UND*") && i < sizeof functions / sizeof *functions;
         i++)
        if (strcmp(last + 1, functions[i].name) == 0) {
            snprintf(message, room, "the code calls %s(), which %s: a lab must do the work itself",
                     functions[i].name, functions[i].purpose);
            return false;
        }
    return true;
}

/* Whether objdump's list is complete: if it is cut off, or objdump could not make it from a file
 * that the loader accepts, a call may be missing. (If objdump is not installed or was killed, for
 * example for lack of memory, its output so far is used, because calls come first.) */
static bool is_whole(struct gr_confined_result *result, size_t most, char *message, size_t room)
{
    enum { PROGRAM_NOT_FOUND = 127 };
    char shown[256];
    if (strlen(result->output) == most) {
        snprintf(message, room, "the library has too many symbols to check");
        return false;
    }
    if (result->timed_out || !result->exit_status || result->exit_status >= PROGRAM_NOT_FOUND)
        return true;
    result->output[strcspn(result->output, "\n")] = '\0';
    snprintf(message, room, "the calls of the library cannot be listed: %s",
             text_printable(shown, sizeof shown, result->output));
    return false;
}

/* Whether a file is a library. The loader refuses other files, and reports this. */
static bool is_elf(const char *path)
{
    char magic[SELFMAG] = "";
    FILE *f = fopen(path, "rbe");
    const bool is =
        f && fread(magic, 1, SELFMAG, f) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (f)
        fclose(f);
    return is;
}

bool gr_library_is_plain(const struct gr_sandbox *sandbox, const char *library, char *message,
                         size_t room)
{
    enum { KEEP_BYTES = 1 << 18 };
    static const struct gr_limits limits = {.wall_s = 30,
                                            .cpu_s = 10,
                                            .address_bytes = (size_t)1 << 30,
                                            .file_bytes = 1,
                                            .processes = 8};
    const char *const argv[] = {"objdump", "-p", "-T", library, NULL};
    const struct gr_confined_options options = {
        .argv = argv, .shown = library, .limits = limits, .keep_bytes = KEEP_BYTES};
    struct gr_confined_result result;
    struct st_error ignored;
    bool plain = true;
    if (!is_elf(library))
        return true;
    if (gr_confined_run(sandbox, &options, &result, &ignored) == ST_OK) {
        plain = is_whole(&result, KEEP_BYTES, message, room);
        char *save = NULL;
        for (char *line = strtok_r(result.output, "\n", &save); line && plain;
             line = strtok_r(NULL, "\n", &save))
            plain = line_is_plain(line, message, room);
    }
    free(result.output);
    return plain;
}
