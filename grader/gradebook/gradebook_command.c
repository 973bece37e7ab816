/* grader gradebook: prints the contents of a gradebook, and describes its tables. */
#include "grader/gradebook/gradebook.h"

#include "base/option_table.h"

#include <string.h>

int gr_command_gradebook(int argc, char **argv);

struct arguments {
    const char *gradebook, *forget;
    bool schema;
};

/* Prints the numbers of grades per milestone, in columns. */
static void print_counts(const struct gb_grade_list *grades)
{
    static const char *const status[] = {"pass", "fail", "skip", "missing", "rejected", "fault"};
    enum { STATUSES = sizeof status / sizeof *status };
    printf("milestone");
    for (int s = 0; s < STATUSES; s++)
        printf("%9s", status[s]);
    printf("\n");
    for (size_t i = 0; i < grades->n;) {
        const char *milestone = grades->row[i].milestone;
        size_t count[STATUSES] = {0};
        for (; i < grades->n && strcmp(grades->row[i].milestone, milestone) == 0; i++)
            for (int s = 0; s < STATUSES; s++)
                count[s] += strcmp(grades->row[i].status, status[s]) == 0;
        printf("%-9s", milestone);
        for (int s = 0; s < STATUSES; s++)
            printf("%9zu", count[s]);
        printf("\n");
    }
}

static enum st_code print_gradebook(struct gradebook *book, struct st_error *err)
{
    struct gb_grade_list grades = {0};
    struct gb_submission_list submissions = {0};
    enum st_code code = gb_grade_read(book, &grades, err, "ORDER BY length(milestone), milestone");
    if (!code)
        code = gb_submission_read(book, &submissions, err, "");
    if (!code) {
        printf("%s: version %d, %zu submissions\n", gb_path(book), GB_VERSION, submissions.n);
        print_counts(&grades);
    }
    gb_grade_free(&grades);
    gb_submission_free(&submissions);
    return code;
}

/* Deletes only the grades. Attempts and manual items stay: if the submission appears again, it is
 * graded again, and they count again. */
static enum st_code delete_grades(struct gradebook *book, const char *name, struct st_error *err)
{
    enum st_code code = gb_change(book, err, "DELETE FROM grade WHERE submission = %Q", name);
    if (code || gb_changed(book))
        return code;
    st_fail(err, ST_USAGE, "the gradebook has no grade of such a submission");
    return st_detail(err, ST_GOT, "%s", name), ST_USAGE;
}

static enum st_code forget_or_print(struct gradebook *book, void *arguments, struct st_error *err)
{
    const struct arguments *a = arguments;
    return a->forget ? delete_grades(book, a->forget, err) : print_gradebook(book, err);
}

int gb_command(const char *name, const char *path, enum gb_access access,
               enum st_code (*run)(struct gradebook *book, void *arguments, struct st_error *err),
               void *arguments)
{
    struct gradebook *book;
    struct st_error err;
    enum st_code code = gb_open(&book, path, access, &err);
    if (!code)
        code = run(book, arguments, &err);
    gb_close(book);
    if (code)
        st_print(stderr, name, &err);
    return code ? 2 : 0;
}

int gr_command_gradebook(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"schema", 's', NULL, "print its tables as Markdown",
         OPTION_FLAG(struct arguments, schema)},
        {"forget", 0, "NAME", "remove the grades of a submission that was renamed or withdrawn",
         OPTION_TEXT(struct arguments, forget)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Print the contents of a gradebook. It is a SQLite file; docs/gradebook.md describes its tables."};
    struct arguments arguments = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &arguments);
    if (arguments.schema) {
        gb_schema_print(stdout);
        return 0;
    }
    return gb_command(argv[0], arguments.gradebook, arguments.forget ? GB_WRITE : GB_READ,
                      forget_or_print, &arguments);
}
