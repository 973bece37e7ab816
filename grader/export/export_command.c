/* grader export FORMAT: exports grades in the formats of grading platforms, and the platforms'
 * autograders. */
#include "base/file_name.h"
#include "base/files.h"
#include "base/option_table.h"
#include "grader/export/autograders.h"
#include "grader/export/export_formats.h"
#include "grader/export/from_gradebook.h"
#include "grader/export/gradebook_tables.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_EXPORTED = 0, EXIT_SOME_FAULTS = 1, EXIT_NOT_EXPORTED = 2 };

struct arguments {
    const char *format, *operand; /* a result, or the autograder's milestone */
    const char *gradebook, *submission, *milestone, *out;
    struct gx_columns columns;
    struct gx_options options;
    struct gx_autograder autograder;
};

/* Autograders, which are made from a milestone, not from grades. */
static const struct {
    const char *name, *summary;
    enum st_code (*make)(const struct gx_autograder *of, const char *to, struct st_error *err);
} autograders[] = {
#define FORMAT(name, holds, suffix, refuses, summary)
#define AUTOGRADER(function, name, summary) {name, summary, function},
#define GRADES(function, name, summary)
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
#undef GRADES
};
/* Tables of all students, for a platform's gradebook. */
static const struct {
    const char *name, *summary;
    gx_table_writer *write;
} tables[] = {
#define FORMAT(name, holds, suffix, refuses, summary)
#define AUTOGRADER(function, name, summary)
#define GRADES(function, name, summary) {name, summary, function},
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
#undef GRADES
};
enum { TABLES = sizeof tables / sizeof *tables };

enum { AUTOGRADERS = sizeof autograders / sizeof *autograders };

static void take_word(void *arguments, char *word, const struct option_row *row,
                      struct argp_state *state)
{
    struct arguments *a = arguments;
    (void)row;
    if (a->operand)
        argp_error(state, "too many arguments, from '%s' on", word);
    *(a->format ? &a->operand : &a->format) = word;
}

static void take_column(void *arguments, char *text, const struct option_row *row,
                        struct argp_state *state)
{
    struct gx_columns *c = &((struct arguments *)arguments)->columns;
    if (!strchr(text, '=') || c->n == SD_MAX_MILESTONES)
        argp_error(state,
                   "--%s: expected a milestone and a heading like m1='Lab 1 (4711)', got '%s'",
                   row->name, text);
    c->text[c->n++] = text;
}

static void check(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    if (!a->format)
        argp_error(state, "no format given");
}

static const char *const visibilities[] = {"visible", "hidden", "after_due_date", "after_published",
                                           NULL};

static const struct option_row rows[] = {
    OPTION_GROUP("Grades to export:"),
    {"gradebook", 0, "FILE", "export the grades of a class, instead of one result.json",
     OPTION_TEXT(struct arguments, gradebook)},
    {"submission", 0, "NAME", "export only this student or team of the gradebook",
     OPTION_TEXT(struct arguments, submission)},
    {"milestone", 0, "mN", "export only this milestone of the gradebook",
     OPTION_TEXT(struct arguments, milestone)},
    OPTION_GROUP("How:"),
    {"out", 0, "FILE|DIR",
     "where to write it (default: standard output); for a class, formats that hold one submission are written to DIR/SUBMISSION/mN.*",
     OPTION_TEXT(struct arguments, out)},
    {"visibility", 0, "V",
     "Gradescope: visible (default), hidden, after_due_date or after_published",
     OPTION_WORD(struct arguments, options.visibility, visibilities)},
    {"stdout-visibility", 0, "V",
     "Gradescope: visibility of the autograder's output (default: hidden)",
     OPTION_WORD(struct arguments, options.stdout_visibility, visibilities)},
    {"excel", 0, NULL, "CSV: begin with a byte order mark, for Excel",
     OPTION_FLAG(struct arguments, options.excel)},
    OPTION_GROUP("Tables for a platform's gradebook:"),
    {"column", 0, "mN=TEXT", "canvas, moodle: heading of a milestone's column: m1='Lab 1 (4711)'",
     OPTION_TAKE_ALL(take_column)},
    SD_UNCHECKED_ROW(struct arguments, columns.unchecked),
    OPTION_GROUP("Autograders:"),
    {"handout", 0, "FILE",
     "the students' archive (default: build/convlab-handout.tar.gz, from make handout)",
     OPTION_TEXT(struct arguments, autograder.handout)},
    {"options", 0, "'...'", "further options of the grader, such as '--quick'",
     OPTION_TEXT(struct arguments, autograder.options)},
    {"url", 0, "URL",
     "github-actions: fetch the students' archive from this address, not from the repository",
     OPTION_TEXT(struct arguments, autograder.url)},
    {"image", 0, "NAME", "prairielearn-autograder: name of the image, including the registry",
     OPTION_TEXT(struct arguments, autograder.image)},
    {OPTION_OPERANDS(take_word)},
    {0}};

/* Prints the list of formats after the options. */
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
    fputs("Tables for a platform's gradebook, from a gradebook:\n", out);
    for (size_t i = 0; i < TABLES; i++)
        fprintf(out, "  %-22s %s\n", tables[i].name, tables[i].summary);
    fputs("Made for a milestone:\n", out);
    for (size_t i = 0; i < AUTOGRADERS; i++)
        fprintf(out, "  %-22s %s\n", autograders[i].name, autograders[i].summary);
    fputs("Exit status: 0 exported, 1 exported except for ungraded submissions, 2 not exported.\n",
          out);
    return fclose(out) ? NULL : list;
}

static const struct option_table table = {
    .rows = rows,
    .check = check,
    .operands = "FORMAT RESULT.json\nFORMAT --gradebook FILE\nAUTOGRADER MILESTONE --out FILE|DIR",
    .about = "Export grades to grading platforms.\v.",
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

/* Writes one file per record. Reports records that the format cannot express, and writes all
 * others. */
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
            remove(path); /* an older file could be mistaken for the grade */
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

static enum st_code write_table(struct arguments *a, gx_table_writer *write, struct st_error *err)
{
    struct gradebook *book = NULL;
    struct sd_class class = {0};
    struct file_out out = {.f = stdout};
    if (!a->gradebook || a->operand)
        return st_fail(err, ST_USAGE, "%s needs --gradebook", a->format);
    a->columns.milestone = a->milestone;
    enum st_code code = gb_open(&book, a->gradebook, GB_READ, err);
    if (!code)
        code = sd_class_read(&class, book, NULL, NULL, err);
    bool is_graded = !a->milestone;
    for (size_t m = 0; m < class.milestones; m++)
        is_graded = is_graded || strcmp(class.milestone[m].id, a->milestone) == 0;
    if (!code && !is_graded) {
        code = st_fail(err, ST_USAGE, "no submission has a grade of %s", a->milestone);
        st_detail(err, ST_WHERE, "%s", a->gradebook);
        st_detail(err, ST_HINT, "grade it with grader class");
    }
    if (!code && a->columns.unchecked == SD_UNDECIDED)
        code = sd_unchecked_refuse(&class.unchecked, &class.grades, gx_is_wanted, &a->columns, err);
    const bool to_file = a->out && strcmp(a->out, "-") != 0;
    bool open = false;
    if (!code && to_file)
        open = !(code = file_out_open(&out, a->out, err));
    if (!code)
        code = write(out.f, &class, &a->columns, err);
    if (open && code)
        file_out_abort(&out);
    else if (open)
        code = file_out_commit(&out, err);
    sd_class_free(&class);
    gb_close(book);
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
    for (size_t i = 0; i < TABLES; i++)
        if (strcmp(a->format, tables[i].name) == 0)
            return write_table(a, tables[i].write, err);
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
    options_parse(&table, argc, argv, &a);
    if (run(&a, &refused, &err)) {
        st_print(stderr, argv[0], &err);
        return EXIT_NOT_EXPORTED;
    }
    return refused ? EXIT_SOME_FAULTS : EXIT_EXPORTED;
}
