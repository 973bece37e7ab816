#include "base/files.h"
#include "base/tests/run_tool.h"
#include "grader/sandbox/confined.h"
#include "grader/sandbox/source_build.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* This machine's sandbox; the tests also pass if there is none. */
static const struct gr_sandbox *sandbox(void)
{
    static struct gr_sandbox s;
    struct st_error err;
    cr_assert(eq(int, gr_sandbox_open(&s, GR_SANDBOX_IF_POSSIBLE, tool_build(), &err), ST_OK));
    return &s;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    fputs(text, f);
    fclose(f);
}

static void enter(void)
{
    strcpy(folder, "/tmp/test-source-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    cr_assert(chmod(folder, 0777) == 0); /* so that the sandbox's user can write to it */
}

static void leave(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert(system(command) == 0);
}

TestSuite(source_build, .init = enter, .fini = leave);

static struct gr_source_build build_file(const char *name)
{
    struct gr_source_build b;
    struct st_error err;
    cr_assert(eq(int,
                 gr_source_build(&b, sandbox(), path_of(name), "conv.c", "common/conv.h",
                                 "gcc\n-Iinclude\n-fPIC\n-shared\nconv.c\n-o\nlibconv.so\n", &err),
                 ST_OK));
    return b;
}

Test(source_build, compiles_a_file_with_an_odd_name_and_leaves_nothing)
{
    put("a b'c\n.c", "#include \"conv.h\"\nstruct conv_shape shape;\n");
    struct gr_source_build b = build_file("a b'c\n.c");
    char was[PATH_MAX];
    strcpy(was, b.folder);
    cr_assert(b.built, "%s", b.said);
    cr_assert(file_exists(b.library));
    gr_source_build_free(&b);
    cr_assert(not(file_exists(was)));
}

/* The lock file of a killed program, which no process holds. */
Test(source_build, what_was_left_by_others_goes_when_it_is_old)
{
    struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct st_error err;
    put("conv.c", "int x;\n");
    setenv("TMPDIR", folder, 1);
    struct gr_source_build mine = build_file("conv.c");
    cr_assert(eq(int, dir_make(path_of("convlab-build-old/include"), &err), ST_OK));
    cr_assert(eq(int, dir_make(path_of("convlab-build-new/include"), &err), ST_OK));
    cr_assert(eq(int, dir_make(path_of("other"), &err), ST_OK));
    cr_assert(utimensat(AT_FDCWD, path_of("convlab-build-old"), long_ago, 0) == 0);
    cr_assert(utimensat(AT_FDCWD, path_of("other"), long_ago, 0) == 0);
    cr_assert(utimensat(AT_FDCWD, mine.folder, long_ago, 0) == 0);
    struct gr_source_build another = build_file("conv.c");
    cr_expect(not(file_exists(path_of("convlab-build-old"))));
    cr_expect(file_exists(path_of("convlab-build-new")));
    cr_expect(file_exists(path_of("other")));
    cr_expect(file_exists(mine.library), "one that is in use is gone");
    gr_source_build_free(&mine);
    gr_source_build_free(&another);
}

Test(source_build, files_beside_the_source_do_not_exist_in_it)
{
    put("beside.h", "");
    put("conv.c", "#include \"beside.h\"\n");
    struct gr_source_build b = build_file("conv.c");
    cr_assert(not(b.built));
    cr_assert(eq(str, b.pattern, "compile_error"));
    cr_assert(strstr(b.said, "beside.h: No such file") != NULL, "%s", b.said);
    gr_source_build_free(&b);
}

Test(source_build, only_a_regular_file_of_moderate_size_is_taken)
{
    static const struct {
        const char *name, *said;
    } cases[] = {{"link.c", "a link"},
                 {"pipe.c", "a named pipe"},
                 {".", "a folder"},
                 {"large.c", "bytes; at most"}};
    put("conv.c", "int x;\n");
    put("large.c", "int x;\n");
    char link[128];
    snprintf(link, sizeof link, "%s/link.c", folder);
    cr_assert(symlink("conv.c", link) == 0);
    cr_assert(mkfifo(path_of("pipe.c"), 0600) == 0);
    cr_assert(truncate(path_of("large.c"), GR_SOURCE_MAX_BYTES + 1) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gr_source_build b = build_file(cases[i].name);
        cr_expect(not(b.built));
        cr_expect(eq(str, b.pattern, "bad_file"));
        cr_expect(strstr(b.said, cases[i].said) != NULL, "%s: %s", cases[i].name, b.said);
        gr_source_build_free(&b);
    }
}

/* A compiler that fails with a message if one of its arguments is for an older GPU. */
static struct gr_source_build build_for_gpus(const char *message, const char *gpus)
{
    struct gr_source_build b;
    struct st_error err;
    char command[512];
    snprintf(
        command, sizeof command,
        "sh\n-c\ncase $* in *sm_75*) echo %s; exit 1;; esac; gcc -shared -fPIC conv.c -o libconv.so\nsh\n%s",
        message, gpus);
    put("conv.c", "int x;\n");
    cr_assert(eq(
        int,
        gr_source_build(&b, sandbox(), path_of("conv.c"), "conv.c", "common/conv.h", command, &err),
        ST_OK));
    return b;
}

Test(source_build, code_for_newer_gpus_is_compiled_for_them_only)
{
    static const char both[] =
        "-gencode\narch=compute_75,code=sm_75\n-gencode\narch=compute_75,code=sm_90\n";
    static const struct {
        const char *message, *gpus;
        bool built;
    } cases[] = {
        {"requires .target sm_80 or higher", both, true},
        {"identifier __reduce_add_sync is undefined", both, true},
        {"expected a semicolon", both, false},
        {"requires .target sm_80 or higher", "-gencode\narch=compute_75,code=sm_75\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gr_source_build b = build_for_gpus(cases[i].message, cases[i].gpus);
        cr_expect(eq(int, b.built, cases[i].built), "%s: %s", cases[i].message, b.said);
        cr_expect(eq(str, b.pattern, cases[i].built ? "" : "compile_error"));
        cr_expect(cases[i].built == !strstr(b.said, cases[i].message), "%s", b.said);
        gr_source_build_free(&b);
    }
}

Test(source_build, a_missing_file_could_not_be_graded)
{
    struct gr_source_build b;
    struct st_error err;
    cr_assert(eq(
        int,
        gr_source_build(&b, sandbox(), path_of("none.c"), "conv.c", "common/conv.h", "gcc\n", &err),
        ST_NOT_FOUND));
}

/* Builds a lab in a checkout that also contains another user's file, which everyone may read. */
static struct gr_source_build build_lab(const char *text, const struct gr_sandbox *in, int stop)
{
    static const char *const argv[] = {"gcc",
                                       "-g",
                                       "-Wall",
                                       "-Icommon",
                                       "-fPIC",
                                       "-shared",
                                       "labs/m1/conv.c",
                                       "-o",
                                       "build/m1/libconv.so",
                                       NULL};
    struct gr_source_build b;
    struct st_error err;
    char root[128];
    strcpy(root, path_of("top"));
    const struct gr_lab_files lab = {root, "labs/m1/conv.c", "build/m1/libconv.so"};
    cr_assert(eq(int, dir_make(path_of("top/labs/m1"), &err), ST_OK));
    cr_assert(eq(int, dir_make(path_of("top/build/m1"), &err), ST_OK));
    cr_assert(eq(int, dir_make(path_of("top/common"), &err), ST_OK));
    put("secret.h", "int secret;\n");
    put("top/common/conv.h", "int contract;\n");
    put("top/common/solution.h", "int solution;\n");
    put("top/labs/m1/conv.c", text);
    cr_assert(eq(int, gr_lab_build(&b, in, &lab, argv, stop, &err), ST_OK), "%s", err.what);
    return b;
}

static bool contains(const char *path, const char *text)
{
    char *data;
    size_t bytes;
    struct st_error err;
    cr_assert(eq(int, file_read(path, 1 << 20, &data, &bytes, &err), ST_OK));
    const bool found = memmem(data, bytes, text, strlen(text)) != NULL;
    free(data);
    return found;
}

Test(source_build, a_lab_is_named_as_its_author_knows_it)
{
    static const struct gr_sandbox none;
    static const char text[] = "#include <conv.h>\nstatic int unused;\n";
    const struct gr_sandbox *kinds[] = {sandbox(), &none};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct gr_source_build b = build_lab(text, kinds[i], 0);
        cr_assert(b.built, "%s", b.said);
        cr_expect(strncmp(b.said, "labs/m1/conv.c:2:12: warning: ", 30) == 0, "%s", b.said);
        cr_expect(contains(b.library, "labs/m1/conv.c") && contains(b.library, path_of("top")) &&
                      !contains(b.library, "convlab-build"),
                  "the line table does not lead to the file");
        cr_expect(eq(int, b.folder[0] != 0, kinds[i]->on));
        cr_expect(eq(int, file_exists(path_of("top/build/m1/libconv.so")), !kinds[i]->on));
        gr_source_build_free(&b);
        b = build_lab("int a\n", kinds[i], 0);
        cr_expect(not(b.built));
        cr_expect(strncmp(b.said, "labs/m1/conv.c:1:", 17) == 0, "%s", b.said);
        cr_expect(eq(str, b.pattern, "compile_error"));
        gr_source_build_free(&b);
    }
}

Test(source_build, a_lab_cannot_reach_files_of_others)
{
    static const char *const texts[] = {"#include \"/etc/passwd\"\n",
                                        "#include \"%s/secret.h\"\n",
                                        "#include \"../../../secret.h\"\n",
                                        "#include <solution.h>\n",
                                        "__asm__(\".incbin \\\"%s/secret.h\\\"\");\n",
                                        "__asm__(\".incbin \\\"common/solution.h\\\"\");\n"};
    static const struct gr_sandbox none;
    if (!sandbox()->on)
        cr_skip("%s", sandbox()->reason);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256];
        snprintf(text, sizeof text, texts[i], folder);
        struct gr_source_build b = build_lab(text, sandbox(), 0);
        cr_expect(not(b.built), "%s", text);
        cr_expect(strstr(b.said, "No such file") || strstr(b.said, "file not found"), "%s", b.said);
        gr_source_build_free(&b);
        b = build_lab(text, &none, 0); /* all entries except the first are available */
        cr_expect(eq(int, b.built, i > 0), "%s: %s", text, b.said);
        gr_source_build_free(&b);
    }
}

Test(source_build, a_compiler_ends_on_request)
{
    int stop[2];
    cr_assert(pipe(stop) == 0 && write(stop[1], "", 1) == 1);
    struct gr_source_build b = build_lab("#include <conv.h>\n", sandbox(), stop[0]);
    cr_expect(not(b.built));
    gr_source_build_free(&b);
}

static struct gr_confined_result run(const char *shell, double wall_s, size_t memory_bytes)
{
    const char *argv[] = {"sh", "-c", shell, NULL};
    const struct gr_confined_options options = {.argv = argv,
                                                .folder = folder,
                                                .limits = {.wall_s = wall_s,
                                                           .cpu_s = 5,
                                                           .address_bytes = memory_bytes,
                                                           .file_bytes = 1 << 20},
                                                .keep_bytes = 100};
    struct gr_confined_result result;
    struct st_error err;
    cr_assert(eq(int, gr_confined_run(sandbox(), &options, &result, &err), ST_OK));
    return result;
}

Test(source_build, a_program_is_confined)
{
    const size_t memory_bytes = (size_t)1 << 30;
    struct gr_confined_result r = run("echo said; exit 3", 10, memory_bytes);
    cr_expect(eq(int, r.exit_status, 3));
    cr_expect(eq(str, r.output, "said\n"));
    free(r.output);
    r = run("yes", 0.5, memory_bytes);
    cr_expect(r.timed_out);
    cr_expect(eq(sz, strlen(r.output), 100));
    free(r.output);
    r = run("exec >/dev/null 2>&1; sleep 20", 0.3, memory_bytes);
    cr_expect(r.timed_out);
    free(r.output);
    r = run("head -c 2000000 /dev/zero >much; echo $?", 10, memory_bytes);
    cr_expect(ne(str, r.output, "0\n"));
    free(r.output);
    r = run("head -c 400000000 /dev/zero | tail -n 1 | wc -c", 10, (size_t)100 << 20);
    cr_expect(strstr(r.output, "400000000") == NULL, "%s", r.output);
    free(r.output);
}
