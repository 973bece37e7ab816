/* grader export FORMAT: grades in the formats of grading platforms, and the platforms' autograders.
 */
#include "base/file_name.h"
#include "base/files.h"
#include "grader/export/autograders.h"
#include "grader/export/export_formats.h"
#include "grader/export/from_gradebook.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_EXPORTED = 0, EXIT_SOME_FAULTS = 1, EXIT_NOT_EXPORTED = 2 };

struct arguments {
    const char *format, *operand; /* a result, or what an autograder is made for */
    const char *gradebook, *submission, *milestone, *out;
    struct gx_options options;
    struct gx_autograder autograder;
};

/* Archives are made for a milestone, not from grades. */
static const struct {
    const char *name, *summary;
    enum st_code (*make)(const struct gx_autograder *of, const char *to, struct st_error *err);
} autograders[] = {
#define FORMAT(name, holds, suffix, refuses, summary)
#define AUTOGRADER(function, name, summary) {name, summary, function},
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
};
enum { AUTOGRADERS = sizeof autograders / sizeof *autograders };

enum {
    KEY_GRADEBOOK = 256,
    KEY_SUBMISSION,
    KEY_MILESTONE,
    KEY_OUT,
    KEY_VISIBILITY,
    KEY_STDOUT_VISIBILITY,
    KEY_EXCEL,
    KEY_HANDOUT,
    KEY_OPTIONS,
    KEY_URL
};

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "What is exported:", 1},
    {"gradebook", KEY_GRADEBOOK, "FILE", 0, "the grades of a class, instead of one result.json", 1},
    {"submission", KEY_SUBMISSION, "NAME", 0, "of the gradebook, only this student or team", 1},
    {"milestone", KEY_MILESTONE, "mN", 0, "of the gradebook, only this milestone", 1},
    {0, 0, 0, 0, "How:", 2},
    {"out", KEY_OUT, "FILE|DIR", 0,
     "where to write it (default: standard output); of a class, formats that hold one submission write DIR/SUBMISSION/mN.*",
     2},
    {"visibility", KEY_VISIBILITY, "V", 0,
     "Gradescope: visible (default), hidden, after_due_date or after_published", 2},
    {"stdout-visibility", KEY_STDOUT_VISIBILITY, "V", 0,
     "the same for what the autograder prints (default: hidden)", 2},
    {"excel", KEY_EXCEL, 0, 0, "CSV: begin with a byte order mark, for Excel", 2},
    {0, 0, 0, 0, "Autograders:", 3},
    {"handout", KEY_HANDOUT, "FILE", 0,
     "the students' archive (default: build/convlab-handout.tar.gz, from make handout)", 3},
    {"options", KEY_OPTIONS, "'...'", 0, "further options of the grader, such as '--quick'", 3},
    {"url", KEY_URL, "URL", 0,
     "github-classroom: fetch the students' archive from there, not from the repository", 3},
    {0},
};

static const char *visibility(const char *arg, struct argp_state *state)
{
    static const char *const known[] = {"visible", "hidden", "after_due_date", "after_published"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(arg, known[i]) == 0)
            return known[i];
    argp_error(state, "expected visible, hidden, after_due_date or after_published, got '%s'", arg);
    return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case KEY_GRADEBOOK:
        a->gradebook = arg;
        break;
    case KEY_SUBMISSION:
        a->submission = arg;
        break;
    case KEY_MILESTONE:
        a->milestone = arg;
        break;
    case KEY_OUT:
        a->out = arg;
        break;
    case KEY_VISIBILITY:
        a->options.visibility = visibility(arg, state);
        break;
    case KEY_STDOUT_VISIBILITY:
        a->options.stdout_visibility = visibility(arg, state);
        break;
    case KEY_EXCEL:
        a->options.excel = true;
        break;
    case KEY_HANDOUT:
        a->autograder.handout = arg;
        break;
    case KEY_OPTIONS:
        a->autograder.options = arg;
        break;
    case KEY_URL:
        a->autograder.url = arg;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            a->format = arg;
        else if (state->arg_num == 1)
            a->operand = arg;
        else
            argp_error(state, "too many arguments, from '%s' on", arg);
        break;
    case ARGP_KEY_END:
        if (!a->format)
            argp_error(state, "no format given");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The list of formats, behind the options. */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char *list = NULL;
    size_t bytes;
    FILE *out = open_memstream(&list, &bytes);
    if (!out)
        return NULL;
    fputs("Formats, from a result.json or a gradebook:\n", out);
    for (const struct gx_format *f = gx_formats; f->name; f++)
        fprintf(out, "  %-22s %s\n", f->name, f->summary);
    fputs("Made for a milestone:\n", out);
    for (size_t i = 0; i < AUTOGRADERS; i++)
        fprintf(out, "  %-22s %s\n", autograders[i].name, autograders[i].summary);
    fputs("Exit status: 0 exported, 1 exported but for what could not be graded, 2 not exported.\n",
          out);
    return fclose(out) ? NULL : list;
}

static const struct argp argp = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FORMAT RESULT.json\nFORMAT --gradebook FILE\nAUTOGRADER MILESTONE --out FILE|DIR",
    .doc = "Exports grades to grading platforms.\v.",
    .help_filter = help_filter};

/* ---- exporting grades ----------------------------------------------------------------------- */

static enum st_code write_file(const struct gx_format *format, const struct gx_class *class,
                               const struct gx_options *options, const char *path,
                               struct st_error *err)
{
    if (!path || strcmp(path, "-") == 0) {
        enum st_code code = gx_format_write(format, stdout, class, options, err);
        if (!code && (fflush(stdout) || ferror(stdout)))
            code = st_fail(err, ST_IO, "cannot write to standard output");
        return code;
    }
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    code = gx_format_write(format, out.f, class, options, err);
    if (code) {
        file_out_abort(&out);
        return code;
    }
    return file_out_commit(&out, err);
}

/* One file for each record. Those that the format cannot say are told, and the rest is written. */
static enum st_code write_each(const struct gx_format *format, const struct gx_class *class,
                               const struct arguments *a, size_t *refused, struct st_error *err)
{
    for (size_t i = 0; i < class->records; i++) {
        const struct gx_class one = {.records = 1, .record = &class->record[i]};
        char name[FILE_NAME_BYTES], folder[PATH_MAX], path[PATH_MAX];
        file_name_of(name, one.record->submission, "-.");
        path_format(folder, sizeof folder, "%s/%s", a->out, name);
        path_format(path, sizeof path, "%s/%s%s", folder, one.record->milestone, format->suffix);
        enum st_code code = dir_make(folder, err);
        if (!code)
            code = write_file(format, &one, &a->options, path, err);
        if (code && one.record->fault) {
            remove(path); /* an older one would be taken for the grade */
            st_print(stderr, "grader export", err);
            ++*refused;
        } else if (code) {
            return code;
        }
    }
    return ST_OK;
}

static enum st_code read_class(const struct arguments *a, struct gx_class *class,
                               struct st_error *err)
{
    if (a->gradebook) {
        struct gradebook *book;
        enum st_code code = gb_open(&book, a->gradebook, GB_READ, err);
        if (!code)
            code = gx_class_read(class, book, a->submission, a->milestone, err);
        gb_close(book);
        return code;
    }
    struct gx_record record;
    enum st_code code = gx_record_read(&record, a->operand, "", err);
    return code ? code : gx_class_add(class, &record, err);
}

static enum st_code export_grades(const struct gx_format *format, const struct arguments *a,
                                  size_t *refused, struct st_error *err)
{
    struct gx_class class = {0};
    enum st_code code = read_class(a, &class, err);
    if (!code && (format->holds == GX_CLASS || !a->gradebook))
        code = write_file(format, &class, &a->options, a->out, err);
    else if (!code && !a->out && class.records == 1)
        code = write_file(format, &class, &a->options, NULL, err);
    else if (!code && !a->out) {
        code = st_fail(err, ST_USAGE, "a file for each submission needs a folder");
        st_detail(err, ST_HINT, "give --out DIR, or choose one with --submission and --milestone");
    } else if (!code)
        code = write_each(format, &class, a, refused, err);
    gx_class_free(&class);
    return code;
}

static enum st_code run(struct arguments *a, size_t *refused, struct st_error *err)
{
    for (size_t i = 0; i < AUTOGRADERS; i++)
        if (strcmp(a->format, autograders[i].name) == 0) {
            if (!a->operand || !a->out)
                return st_fail(err, ST_USAGE, "%s needs a milestone and --out", a->format);
            a->autograder.milestone = a->operand;
            return autograders[i].make(&a->autograder, a->out, err);
        }
    const struct gx_format *format = gx_format_named(a->format);
    if (!format) {
        st_fail(err, ST_USAGE, "no such format");
        return st_detail(err, ST_GOT, "'%s'", a->format);
    }
    if (!a->operand == !a->gradebook)
        return st_fail(err, ST_USAGE, "%s needs either a result.json or --gradebook", a->format);
    return export_grades(format, a, refused, err);
}

int gr_command_export(int argc, char **argv);

int gr_command_export(int argc, char **argv)
{
    struct arguments a = {.options = {.visibility = "visible", .stdout_visibility = "hidden"},
                          .autograder = {.options = ""}};
    struct st_error err = {0};
    size_t refused = 0;
    argp_err_exit_status = EXIT_NOT_EXPORTED;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    if (run(&a, &refused, &err)) {
        st_print(stderr, argv[0], &err);
        return EXIT_NOT_EXPORTED;
    }
    return refused ? EXIT_SOME_FAULTS : EXIT_EXPORTED;
}
