/* grader late: stores deadlines and the platform's times, and prints late submissions. */
#include "base/option_table.h"
#include "base/printable.h"
#include "grader/standing/late.h"

#include <math.h>

int gr_command_late(int argc, char **argv);

enum { EXIT_DONE = 0, EXIT_FAILED = 2, SHOWN_BYTES = 1024 };

struct arguments {
    const char *gradebook, *deadlines, *times, *milestone, *zone;
};

static void report(void *context, const char *line)
{
    char shown[4 * SHOWN_BYTES];
    bool *reported = context;
    text_printable(shown, sizeof shown, line);
    fprintf(stderr, "grader late: %s\n", shown);
    *reported = true;
}

static enum st_code take_times(struct gradebook *book, const struct arguments *a, bool *reported,
                               struct st_error *err)
{
    double zone_s = NAN, zero;
    char text[128];
    size_t taken;
    if (a->zone) { /* checks the zone by parsing a time with it */
        snprintf(text, sizeof text, "1970-01-01 00:00 %.60s", a->zone);
        if (!sd_time_read(text, NAN, &zero)) {
            st_fail(err, ST_USAGE, "wrong zone");
            st_detail(err, ST_EXPECTED, "like +01:00");
            return st_detail(err, ST_GOT, "%s", a->zone), ST_USAGE;
        }
        zone_s = -zero;
    }
    enum st_code code =
        sd_times_import(book, a->times, a->milestone, zone_s, &taken, report, reported, err);
    if (!code)
        printf("%zu submission time%s imported\n", taken, taken == 1 ? "" : "s");
    return code;
}

static void print_late(const struct sd_lates *lates)
{
    size_t late = 0;
    for (size_t i = 0; i < lates->n; i++) {
        const struct sd_late *l = &lates->row[i];
        char shown[SHOWN_BYTES];
        if (!l->reason[0])
            continue;
        late++;
        text_printable(shown, sizeof shown, l->student);
        printf("%s %s: %s%s\n", shown, l->milestone, l->reason,
               !l->unknown             ? ""
               : isnan(l->submitted_s) ? " (hint: grader late --times)"
                                       : " (hint: grader late --deadlines)");
    }
    printf("%zu of %zu late\n", late, lates->n);
}

static void check(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    if (a->times && !a->milestone)
        argp_error(state, "--times needs --milestone");
}

int gr_command_late(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"deadlines", 0, "FILE",
         "store this file's due dates, extensions and policy in the gradebook",
         OPTION_TEXT(struct arguments, deadlines)},
        {"times", 0, "FILE",
         "read submission times from a CSV file with name or email, and submitted; or from Moodle's unchanged grading worksheet",
         OPTION_TEXT(struct arguments, times)},
        {"milestone", 'm', "mN", "the milestone of these times",
         OPTION_TEXT(struct arguments, milestone)},
        {"zone", 0, "+HH:MM", "the time zone of times that state none (Moodle's)",
         OPTION_TEXT(struct arguments, zone)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .about =
            "List late submissions by the platform's times, with slip days and the loss of points. docs/deadlines.md describes the file."
            "\vExit status: 0 done, 2 some entries were ignored or the command failed."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    struct gradebook *book;
    struct sd_lates lates = {0};
    struct st_error err;
    bool reported = false;
    enum st_code code =
        gb_open(&book, a.gradebook, a.deadlines || a.times ? GB_WRITE : GB_READ, &err);
    if (!code && a.deadlines)
        code = sd_deadlines_keep(book, a.deadlines, NULL, NULL,
                                 &err); /* mistakes are reported when the deadlines are used */
    if (!code && a.times)
        code = take_times(book, &a, &reported, &err);
    if (!code)
        code = sd_lates_make(&lates, book, report, &reported, &err);
    if (!code)
        print_late(&lates);
    sd_lates_free(&lates);
    gb_close(book);
    if (code)
        st_print(stderr, "grader late", &err);
    return code || reported ? EXIT_FAILED : EXIT_DONE;
}
