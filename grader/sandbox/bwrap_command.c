/* Makes the command line of bubblewrap, which shows, in this order (a later line may cover an
 * earlier one):
 *
 *     /lib* /usr/lib* ...    libraries; for compilers all of /usr
 *     /proc /dev /tmp        private; /tmp and /dev/shm in memory, of limited size
 *     /dev/nvidia* /sys ...  if the program uses a GPU
 *     the checkout           covered, if it is inside a shown folder
 *     options.writable       at its path, which may be the checkout's and then covers it
 *     options.shown          the few files that this program needs
 *
 * Only /tmp, /dev/shm and options.writable are writable. */
#include "grader/sandbox/bwrap_command.h"

#include "base/files.h"
#include "grader/sandbox/confine.h"

#include <dirent.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TMP_BYTES = 256 << 20, SHM_BYTES = 256 << 20 };

/* ---- words ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void word(struct gr_command *c, const char *format,
                                                       ...)
{
    va_list args;
    va_start(args, format);
    const size_t room = GR_COMMAND_TEXT - c->used;
    const int n = c->full ? -1 : vsnprintf(c->text + c->used, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room || c->n + 1 >= GR_COMMAND_WORDS) {
        c->full = true;
        return;
    }
    c->argv[c->n++] = c->text + c->used;
    c->argv[c->n] = NULL;
    c->used += (size_t)n + 1;
}

/* Adds an option, with or without arguments. */
static void option(struct gr_command *c, const char *name, const char *first, const char *second)
{
    word(c, "%s", name);
    if (first)
        word(c, "%s", first);
    if (second)
        word(c, "%s", second);
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool lies_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* Creates a path's parent folders, which all users may enter: bubblewrap would create them for root
 * alone. */
static void make_above(struct gr_command *c, const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char folder[PATH_MAX];
        path_format(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        bool made = false;
        for (size_t i = 0; i + 1 < c->n && !made; i++)
            made = strcmp(c->argv[i], "--dir") == 0 && strcmp(c->argv[i + 1], folder) == 0;
        if (!made) {
            option(c, "--perms", "0755", "--dir");
            word(c, "%s", folder);
        }
    }
}

/* Whether something is bound at this path. */
static bool is_shown(const struct gr_command *c, const char *path)
{
    for (size_t i = 0; i + 1 < c->n; i++)
        if (strcmp(c->argv[i], "--ro-bind") == 0 && lies_in(path, c->argv[i + 1]))
            return true;
    return false;
}

static void bind(struct gr_command *c, const char *how, const char *path, const char *at)
{
    make_above(c, at);
    option(c, how, path, at);
}

/* Shows a folder at its own path, and a link as a link. Skips missing folders. */
static void show(struct gr_command *c, const struct gr_box_options *o, const char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0) {
        target[n] = '\0';
        option(c, "--symlink", target, path);
    } else if (file_exists(path)) {
        bind(c, "--ro-bind", path, path);
        if (lies_in(o->sandbox->checkout, path))
            option(c, "--tmpfs", o->sandbox->checkout, NULL);
    }
}

static void show_system(struct gr_command *c, const struct gr_box_options *o)
{
    static const char *const libraries[] = {"/lib", "/lib32", "/lib64", "/libx32",
                                            "/etc/ld.so.cache"};
    static const char *const running[] = {"/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32",
                                          "/usr/local/lib"};
    static const char *const compiling[] = {"/usr", "/bin", "/sbin", "/etc/alternatives"};
    const char *const *more = o->compiles ? compiling : running;
    const size_t n =
        o->compiles ? sizeof compiling / sizeof *compiling : sizeof running / sizeof *running;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        show(c, o, libraries[i]);
    for (size_t i = 0; i < n; i++)
        show(c, o, more[i]);
    show(c, o, "/sys/devices/system/cpu");
}

static void private_folder(struct gr_command *c, const char *path, unsigned bytes)
{
    option(c, "--perms", "1777", "--size");
    word(c, "%u", bytes);
    option(c, "--tmpfs", path, NULL);
}

static const char *variable(char *const *environment, const char *name)
{
    const size_t length = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return "";
}

/* Shows the driver's devices, and its libraries in the folders where the loader looks for them. */
static void show_gpu(struct gr_command *c, const struct gr_box_options *o)
{
    glob_t found;
    show(c, o, "/usr/local");
    show(c, o, "/sys");
    show(c, o, "/etc/alternatives");
    for (const char *at = variable(o->environment, "LD_LIBRARY_PATH"); *at;) {
        char folder[PATH_MAX];
        const size_t length = strcspn(at, ":");
        path_format(folder, sizeof folder, "%.*s", (int)length, at);
        if (folder[0] == '/' && !lies_in(folder, "/usr/lib") && !lies_in(folder, "/usr/local"))
            show(c, o, folder);
        at += length + (at[length] == ':');
    }
    if (glob("/dev/nvidia*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            option(c, "--dev-bind", found.gl_pathv[i], found.gl_pathv[i]);
        globfree(&found);
    }
}

/* Covers a file by an empty file, at its real path, if the file is shown at all. */
static void hide(struct gr_command *c, const char *path)
{
    char place[PATH_MAX];
    struct stat info;
    if (!realpath(path, place) || !is_shown(c, place) || stat(place, &info) ||
        !S_ISREG(info.st_mode))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->argv[i], place) == 0)
            return;
    option(c, "--ro-bind", "/dev/null", place);
}

static bool is_hidden(const char *name)
{
    static const char *const patterns[] = {
#include "grader/sandbox/hidden_libraries.def"
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

static void hide_in(struct gr_command *c, const char *folder)
{
    char path[PATH_MAX];
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (is_hidden(entry->d_name) &&
            path_format(path, sizeof path, "%s/%s", folder, entry->d_name))
            hide(c, path);
    if (entries)
        closedir(entries);
}

/* Calls a function for each path that matches a pattern. */
static void each_match(struct gr_command *c, const char *pattern,
                       void (*call)(struct gr_command *c, const char *path))
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        call(c, found.gl_pathv[i]);
    globfree(&found);
}

/* Hides a folder of Python packages, which bundle such libraries under other names. */
static void hide_package(struct gr_command *c, const char *path)
{
    struct stat info;
    if (!is_shown(c, path) || lstat(path, &info) || !S_ISDIR(info.st_mode))
        return;
    option(c, "--size", "4096", NULL);
    option(c, "--tmpfs", path, "--remount-ro");
    word(c, "%s", path);
}

/* Hides libraries that would do a lab's work, even from the compiler, which could link them into
 * the lab. */
static void hide_libraries(struct gr_command *c, const struct gr_box_options *o)
{
    static const char *const folders[] = {"/usr/lib",
                                          "/usr/lib/*-linux-gnu*",
                                          "/usr/lib/*-linux-gnu*/*blas*",
                                          "/usr/lib/*-linux-gnu*/*blis*",
                                          "/usr/lib/*-linux-gnu*/atlas",
                                          "/usr/lib/*-linux-gnu*/lapack",
                                          "/usr/lib64",
                                          "/usr/local/lib",
                                          "/usr/local/cuda*/lib64",
                                          "/usr/local/cuda*/targets/*/lib",
                                          "/usr/local/cuda*/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        each_match(c, folders[i], hide_in);
    for (const char *at = variable(o->environment, "LD_LIBRARY_PATH"); *at;) {
        char folder[PATH_MAX];
        const size_t length = strcspn(at, ":");
        if (path_format(folder, sizeof folder, "%.*s", (int)length, at))
            hide_in(c, folder);
        at += length + (at[length] == ':');
    }
}

/* ---- the whole command ---------------------------------------------------------------------- */

static void name_spaces(struct gr_command *c, const struct gr_box_options *o)
{
    static const char *const apart[] = {"--unshare-ipc", "--unshare-pid",        "--unshare-net",
                                        "--unshare-uts", "--unshare-cgroup-try", "--new-session",
                                        "--as-pid-1"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        word(c, "%s", apart[i]);
    if (o->sandbox->own_users)
        word(c, "--unshare-user");
    option(c, "--hostname", "sandbox", NULL);
#ifdef __SANITIZE_ADDRESS__
    /* When a program ends, LeakSanitizer traces it from a thread and waits for that thread. It
     * would wait forever, because the filter ends any thread that traces. */
    option(c, "--setenv", "LSAN_OPTIONS", "detect_leaks=0");
#endif
    option(c, "--cap-drop", "ALL", NULL);
    if (o->sandbox->user) {
        option(c, "--cap-add", "CAP_SETUID", NULL);
        option(c, "--cap-add", "CAP_SETGID", NULL);
    }
    word(c, "--seccomp");
    word(c, "%zu", o->descriptors + GR_COMMAND_FILTER);
}

static void limit(struct gr_command *c, const char *name, size_t most)
{
    if (most)
        word(c, "%s=%zu", name, most);
}

static void confine(struct gr_command *c, const struct gr_box_options *o)
{
    word(c, "%s", CONFINE_AT);
    word(c, "report=%zu", o->descriptors + GR_COMMAND_REPORT);
    word(c, "life=%zu", o->descriptors + GR_COMMAND_LIFE);
    word(c, "keep=%zu", o->descriptors);
    limit(c, "user", o->sandbox->user);
    limit(c, "processes", o->limits.processes);
    limit(c, "files", o->limits.files);
    limit(c, "cpu", o->limits.cpu_s);
    limit(c, "file", o->limits.file_bytes);
    limit(c, "data", o->limits.heap_bytes);
    limit(c, "address", o->limits.address_bytes);
    word(c, "--");
}

/* Makes /proc read-only; on a GPU only the system's settings in it, because CUDA's driver writes
 * its threads' names to /proc. */
static void protect_proc(struct gr_command *c, const struct gr_box_options *o)
{
    static const char *const settings[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
                                           "/proc/bus", "/proc/fs"};
    if (!o->gpu)
        option(c, "--remount-ro", "/proc", NULL);
    for (size_t i = 0; o->gpu && i < sizeof settings / sizeof *settings; i++)
        if (file_exists(settings[i]))
            option(c, "--ro-bind", settings[i], settings[i]);
}

void gr_command_make(struct gr_command *c, const struct gr_box_options *o)
{
    *c = (struct gr_command){.argv = calloc(GR_COMMAND_WORDS, sizeof *c->argv),
                             .text = malloc(GR_COMMAND_TEXT)};
    c->full = !c->argv || !c->text;
    word(c, "bwrap");
    name_spaces(c, o);
    show_system(c, o);
    option(c, "--proc", "/proc", NULL);
    option(c, "--dev", "/dev", NULL);
    private_folder(c, "/dev/shm", SHM_BYTES);
    private_folder(c, "/tmp", TMP_BYTES);
    if (o->gpu)
        show_gpu(c, o);
    hide_libraries(c, o);
    each_match(c, "/usr/lib/python3*", hide_package);
    each_match(c, "/usr/local/lib/python3*", hide_package);
    if (gr_box_own_memory(o)) /* a mapping of it would be shared memory without a file */
        option(c, "--ro-bind", "/dev/null", "/dev/zero");
    bind(c, "--ro-bind", o->sandbox->confine, CONFINE_AT);
    if (o->writable)
        bind(c, "--bind", o->writable, o->writable_at);
    for (size_t i = 0; i < GR_BOX_SHOWN && o->shown[i]; i++)
        if (!is_shown(c, o->shown[i]) || lies_in(o->shown[i], o->sandbox->checkout))
            bind(c, "--ro-bind", o->shown[i], o->shown[i]);
    for (size_t i = 0; i < GR_BOX_FILES && o->files[i]; i++)
        bind(c, "--bind", o->files[i], o->files[i]);
    protect_proc(c, o);
    option(c, "--remount-ro", "/dev", NULL);
    option(c, "--remount-ro", "/", NULL);
    option(c, "--chdir", o->folder, NULL);
    confine(c, o);
    for (size_t i = 0; o->argv[i]; i++)
        word(c, "%s", o->argv[i]);
}

void gr_command_free(struct gr_command *c)
{
    free(c->argv);
    free(c->text);
    *c = (struct gr_command){.n = 0};
}
