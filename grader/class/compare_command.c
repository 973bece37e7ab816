/* grader compare: prints what changed, grade by grade, between two gradebooks, or in one gradebook
 * between each grade and the previous attempt. */
#include "base/option_table.h"
#include "grader/class/class_names.h"
#include "grader/gradebook/gradebook.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gr_command_compare(int argc, char **argv);

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_FAILED = 2 };

struct arguments {
    const char *gradebook, *books[2];
    int n;
};

/* The differences found. */
struct counts {
    size_t compared, higher, lower, other, only_before, only_after;
};

/* ---- one grade ------------------------------------------------------------------------------ */

static void print_attempt(const struct gb_attempt *a)
{
    printf("%s", a->status);
    if (isfinite(a->score))
        printf(" %g/%g", a->score, a->max_score);
}

static void print_name(const struct gb_attempt *a)
{
    char shown[CL_SHOWN_BYTES];
    printf("%s %s: ", cl_name_shown(shown, a->submission), a->milestone);
}

static const struct gb_check_result *check_named(const struct gb_graded *graded, const char *name)
{
    for (size_t i = 0; i < graded->checks.n; i++)
        if (strcmp(graded->checks.row[i].name, name) == 0)
            return &graded->checks.row[i];
    return NULL;
}

/* Prints "; unit_shapes fail -> pass" for each check that changed. */
static void print_checks(const struct gb_graded *before, const struct gb_graded *after)
{
    for (size_t i = 0; i < after->checks.n; i++) {
        const struct gb_check_result *now = &after->checks.row[i],
                                     *then = check_named(before, now->name);
        if (then && strcmp(then->status, now->status) != 0)
            printf("; %s %s -> %s", now->name, then->status, now->status);
        else if (then && then->points != now->points)
            printf("; %s %g -> %g points", now->name, then->points, now->points);
    }
    if (strcmp(before->attempt.source_hash ? before->attempt.source_hash : "",
               after->attempt.source_hash ? after->attempt.source_hash : "") != 0)
        printf("; another source");
    else if (before->attempt.seed != after->attempt.seed)
        printf("; seed %" PRId64 " -> %" PRId64, before->attempt.seed, after->attempt.seed);
    if (strcmp(before->attempt.options, after->attempt.options) != 0)
        printf("; options '%s' -> '%s'", before->attempt.options, after->attempt.options);
}

static void compare_graded(const struct gb_graded *before, const struct gb_graded *after,
                           struct counts *c)
{
    const struct gb_attempt *a = &before->attempt, *b = &after->attempt;
    bool both = isfinite(a->score) && isfinite(b->score);
    c->compared++;
    if (strcmp(a->status, b->status) == 0 &&
        (a->score == b->score || (!both && isnan(a->score) && isnan(b->score))))
        return;
    if (both && a->score != b->score)
        ++*(b->score > a->score ? &c->higher : &c->lower);
    else
        c->other++;
    print_name(b);
    print_attempt(a);
    printf(" -> ");
    print_attempt(b);
    print_checks(before, after);
    printf("\n");
}

/* ---- gradebooks ----------------------------------------------------------------------------- */

/* Compares two attempts by number. */
static enum st_code compare_attempts(struct gradebook *old, int64_t before, struct gradebook *new,
                                     int64_t after, struct counts *c, struct st_error *err)
{
    struct gb_graded a, b;
    enum st_code code = gb_graded_read(old, before, &a, err);
    if (code)
        return code;
    code = gb_graded_read(new, after, &b, err);
    if (!code) {
        compare_graded(&a, &b, c);
        gb_graded_free(&b);
    }
    gb_graded_free(&a);
    return code;
}

static int order(const struct gb_grade *a, const struct gb_grade *b)
{
    int by_name = strcmp(a->submission, b->submission);
    return by_name ? by_name : strverscmp(a->milestone, b->milestone);
}

static void print_only(const struct gb_grade *g, const char *which)
{
    char shown[CL_SHOWN_BYTES];
    printf("%s %s: %s in %s only\n", cl_name_shown(shown, g->submission), g->milestone, g->status,
           which);
}

/* Both lists have the same order, so one pass compares them. */
static enum st_code compare_books(struct gradebook *old, struct gradebook *new, struct counts *c,
                                  struct st_error *err)
{
    static const char tail[] = "ORDER BY submission, length(milestone), milestone";
    struct gb_grade_list before = {0}, after = {0};
    enum st_code code = gb_grade_read(old, &before, err, tail);
    if (!code)
        code = gb_grade_read(new, &after, err, tail);
    for (size_t i = 0, k = 0; !code && (i < before.n || k < after.n);) {
        int which = i == before.n ? 1 : k == after.n ? -1 : order(&before.row[i], &after.row[k]);
        if (which < 0) {
            print_only(&before.row[i++], "the first");
            c->only_before++;
        } else if (which > 0) {
            print_only(&after.row[k++], "the second");
            c->only_after++;
        } else
            code =
                compare_attempts(old, before.row[i++].attempt, new, after.row[k++].attempt, c, err);
    }
    gb_grade_free(&before);
    gb_grade_free(&after);
    return code;
}

/* Compares each grade with the previous attempt, if any. */
static enum st_code compare_history(struct gradebook *book, struct counts *c, struct st_error *err)
{
    struct gb_grade_list grades;
    enum st_code code =
        gb_grade_read(book, &grades, err, "ORDER BY submission, length(milestone), milestone");
    for (size_t i = 0; !code && i < grades.n; i++) {
        const struct gb_grade *g = &grades.row[i];
        struct gb_attempt_list earlier;
        code = gb_attempt_read(
            book, &earlier, err,
            "WHERE submission = %Q AND milestone = %Q AND id < %lld ORDER BY id DESC LIMIT 1",
            g->submission, g->milestone, (long long)g->attempt);
        if (!code && earlier.n)
            code = compare_attempts(book, earlier.row[0].id, book, g->attempt, c, err);
        gb_attempt_free(&earlier);
    }
    gb_grade_free(&grades);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

static void take_book(void *arguments, char *path, const struct option_row *row,
                      struct argp_state *state)
{
    struct arguments *a = arguments;
    (void)row;
    if (a->n == 2)
        argp_error(state, "expected two gradebooks, got a third: '%s'", path);
    a->books[a->n++] = path;
}

static void check(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    if (a->n == 1)
        argp_error(
            state,
            "expected two gradebooks, or none to compare each grade with the attempt before it");
}

int gr_command_compare(int argc, char **argv)
{
    static const struct option_row rows[] = {
        GB_OPTION_ROW(struct arguments, gradebook), {OPTION_OPERANDS(take_book)}, {0}};
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "[OLD NEW]",
        .about =
            "Show the grades that differ between the gradebooks OLD and NEW. Without them, show the grades of one gradebook that differ from the previous attempt."
            "\vExit status: 0 none differs, 1 some do, 2 could not compare."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    struct gradebook *old = NULL, *new = NULL;
    struct counts c = {0};
    struct st_error err;
    enum st_code code = gb_open(&old, a.n ? a.books[0] : a.gradebook, GB_READ, &err);
    if (!code && a.n)
        code = gb_open(&new, a.books[1], GB_READ, &err);
    if (!code)
        code = a.n ? compare_books(old, new, &c, &err) : compare_history(old, &c, &err);
    gb_close(old);
    gb_close(new);
    if (code) {
        st_print(stderr, "grader compare", &err);
        return EXIT_FAILED;
    }
    size_t differ = c.higher + c.lower + c.other + c.only_before + c.only_after;
    printf(
        "%zu compared: %zu higher, %zu lower, %zu with another status; %zu in the first only, %zu in the second only\n",
        c.compared, c.higher, c.lower, c.other, c.only_before, c.only_after);
    return differ ? EXIT_DIFFERENT : EXIT_SAME;
}
