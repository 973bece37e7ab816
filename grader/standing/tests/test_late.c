/* Tests of deadlines: which submissions are late, by how much, and how many points each student
 * loses. */
#include "base/files.h"
#include "grader/standing/late.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUE = 1793484000 }; /* 2026-10-31T22:00Z */

static char folder[] = "/tmp/late-test-XXXXXX", path[PATH_MAX], told[4096];
static struct gradebook *book;

static void tell(void *context, const char *line)
{
    (void)context;
    strncat(told, line, sizeof told - strlen(told) - 2);
    strcat(told, "\n");
}

static void put_person(const char *name, const char *team)
{
    char email[64];
    snprintf(email, sizeof email, "%s@uni.edu", name);
    const struct gb_roster row = {.name = (char *)name,
                                  .team = (char *)team,
                                  .display_name = (char *)"",
                                  .email = email,
                                  .line = 1,
                                  .platform_id = (char *)"",
                                  .sis_id = (char *)"",
                                  .section = (char *)""};
    cr_assert_eq(gb_roster_put(book, &row, NULL), ST_OK);
}

static void put_handin(const char *name, const char *milestone, double submitted_s, bool marked)
{
    const struct gb_submission s = {.name = (char *)name,
                                    .team = (char *)"",
                                    .kind = (char *)"folder",
                                    .status = (char *)"ok",
                                    .message = (char *)""};
    const struct gb_handin h = {.submission = (char *)name,
                                .milestone = (char *)milestone,
                                .submitted = submitted_s,
                                .marked_late = marked,
                                .source = (char *)"",
                                .report_name = (char *)""};
    cr_assert_eq(gb_submission_put(book, &s, NULL), ST_OK);
    cr_assert_eq(gb_handin_put(book, &h, NULL), ST_OK);
}

/* ann works alone; bob and cara are the team duo; bob has already been late. */
static void begin(void)
{
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/g.db", folder);
    cr_assert_eq(gb_open(&book, path, GB_CREATE, NULL), ST_OK);
    put_person("ann", "");
    put_person("bob", "duo");
    put_person("cara", "duo");
    put_handin("bob", "m1", DUE + 86400 + 1, false); /* two days late */
    put_handin("cara", "m1", DUE - 1, false);
    put_handin("ann", "m1", DUE + 3600, false);      /* one day and one hour late */
    put_handin("duo", "m2", DUE + 4 * 86400, false); /* one day after this milestone's due date */
    put_handin("stranger", "m1", NAN, true);
}

static void end(void)
{
    gb_close(book);
    tree_remove(folder);
}

static void keep(const char *text)
{
    char file[PATH_MAX];
    struct st_error err;
    snprintf(file, sizeof file, "%s/deadlines.yaml", folder);
    cr_assert_eq(file_write(file, text, strlen(text), &err), ST_OK);
    cr_assert_eq(sd_deadlines_keep(book, file, NULL, NULL, &err), ST_OK, "%s %s", err.what,
                 err.where);
}

#define DUES                                                                                       \
    "due:\n- {milestone: m1, at: 2026-10-31T22:00Z}\n- {milestone: m2, at: 2026-11-04 00:00 +02:00}\n"

static void expect(const char *student, const char *milestone, unsigned slip, unsigned days,
                   double lost)
{
    struct sd_lates lates;
    cr_assert_eq(sd_lates_make(&lates, book, tell, NULL, NULL), ST_OK);
    const struct sd_late *l = sd_late_of(&lates, student, milestone);
    cr_assert(l, "%s %s", student, milestone);
    cr_expect_eq(l->slip_days, slip, "%s %s: %u slip days: %s", student, milestone, l->slip_days,
                 l->reason);
    cr_expect_eq(l->days_late, days, "%s %s: %u days: %s", student, milestone, l->days_late,
                 l->reason);
    cr_expect_float_eq(l->lost, lost, 1e-9, "%s %s: %g: %s", student, milestone, l->lost,
                       l->reason);
    sd_lates_free(&lates);
}

Test(late, each_member_has_slip_days_of_their_own, .init = begin, .fini = end)
{
    keep(DUES "slip_days: 2\nslip_days_of: member\npolicy: per_day\npercent: 10\n");
    expect("ann", "m1", 1, 0, 0);
    expect("bob", "m1", 2, 0, 0);
    expect("cara", "m1", 0, 0, 0);
    expect("bob", "m2", 0, 1, 0.1); /* the slip days are used up */
    expect("cara", "m2", 1, 0, 0);
    expect("stranger", "m1", 0, 0, 0);
}

Test(late, a_team_has_slip_days_together, .init = begin, .fini = end)
{
    keep(DUES "slip_days: 1\nslip_days_of: team\npolicy: per_day\npercent: 10\n");
    expect("bob", "m2", 1, 0, 0);
    expect("cara", "m2", 1, 0, 0);
}

Test(late, policies_take_by_days_or_hours_up_to_a_cap, .init = begin, .fini = end)
{
    keep(DUES "policy: per_day\npercent: 10\n");
    expect("bob", "m1", 0, 2, 0.2);
    keep(DUES "policy: per_hour\npercent: 2\nat_most: 40\n");
    expect("ann", "m1", 0, 1, 0.02);
    expect("bob", "m1", 0, 2, 0.4);
    keep(DUES "policy: none\n");
    expect("bob", "m1", 0, 2, 0);
    keep(DUES "policy: per_day\npercent: 10\nclosed_after_days: 1\ngrace_minutes: 60\n");
    expect("ann", "m1", 0, 0, 0);
    expect("bob", "m1", 0, 1, 0.1); /* 23 hours after the end of the grace period */
}

Test(late, extensions_are_found_by_any_name_and_reported_if_they_are_for_nobody, .init = begin,
     .fini = end)
{
    told[0] = '\0';
    keep(DUES "policy: per_day\npercent: 10\nextensions:\n"
              "- {for: BOB@uni.edu, milestone: m1, until: 2026-11-02T22:00Z, reason: ill}\n"
              "- {for: duo, milestone: m2, until: 2026-11-09T22:00Z}\n"
              "- {for: zoe@uni.edu, milestone: m1, until: 2026-11-09T22:00Z}\n"
              "- {for: ann, milestone: m1, until: tomorrow}\n"
              "- {for: ann, milestone: m7, until: 2026-11-09T22:00Z}\n");
    expect("bob", "m1", 0, 0, 0);
    expect("cara", "m2", 0, 0, 0);
    expect("ann", "m1", 0, 1, 0.1);
    cr_expect(strstr(told, "for zoe@uni.edu has an unknown student"), "%s", told);
    cr_expect(strstr(told, "ann: not a time with a zone, ignored: tomorrow"), "%s", told);
    cr_expect(strstr(told, "of m7 for ann extends nothing"), "%s", told);
}

Test(late, more_than_all_cannot_be_lost, .init = begin, .fini = end)
{
    told[0] = '\0';
    keep(DUES "policy: per_day\npercent: 60\nat_most: 300\n");
    expect("bob", "m1", 0, 2, 1);
    cr_expect(strstr(told, "at_most: 300 is not a percentage of the points; 100 is used"), "%s",
              told);
    keep(DUES "policy: per_day\npercent: 60\nat_most: -1\n");
    expect("bob", "m1", 0, 2, 0);
    cr_expect(strstr(told, "at_most: -1 is not a percentage of the points; 0 is used"), "%s", told);
    keep(DUES "policy: per_day\npercent: 60\nat_most: 0\n");
    expect("bob", "m1", 0, 2, 0);
}

Test(late, a_wrong_file_changes_nothing, .init = begin, .fini = end)
{
    char file[PATH_MAX];
    struct st_error err;
    keep(DUES "policy: per_day\npercent: 10\n");
    snprintf(file, sizeof file, "%s/wrong.yaml", folder);
    static const char *const wrong[][2] = {
        {"due: [", ""},
        {"policy: per_week\n", ""},
        {"slip_days: -1\n", ""},
        {"slip_days: [3]\n", "expected a number, found a list"},
        {"dues: []\n", ""},
        {"due: {m1: 2026-10-31T23:59Z}\n", "expected a list (- item, or [item, item]), found keys"},
        {"- m1\n", "expected keys with values (key: value), found a list"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(file_write(file, wrong[i][0], strlen(wrong[i][0]), &err), ST_OK);
        cr_expect_eq(sd_deadlines_keep(book, file, tell, NULL, &err), ST_BAD_FORMAT, "%s",
                     wrong[i][0]);
        cr_expect(strstr(err.what, wrong[i][1]), "%s", err.what);
    }
    expect("bob", "m1", 0, 2, 0.2);
}

Test(late, due_dates_of_the_command_line_come_after_those_of_the_file, .init = begin, .fini = end)
{
    cr_assert_eq(sd_due_keep(book, "m1", DUE + 10 * 86400.0, NULL), ST_OK);
    cr_assert_eq(sd_due_keep(book, "g2", DUE, NULL), ST_OK);
    put_handin("ann", "g2", DUE + 3600, false);
    keep("policy: per_day\npercent: 10\n");
    expect("bob", "m1", 0, 0, 0);
    expect("ann", "g2", 0, 1, 0.1);
    keep(DUES "policy: per_day\npercent: 10\n");
    expect("bob", "m1", 0, 2, 0.2);
}

Test(late, a_mark_of_the_platform_says_what_is_missing, .init = begin, .fini = end)
{
    struct sd_lates lates;
    put_handin("ann", "m3", DUE, true);
    put_handin("bob", "m3", NAN, true);
    cr_assert_eq(sd_lates_make(&lates, book, tell, NULL, NULL), ST_OK);
    cr_expect_str_eq(sd_late_of(&lates, "ann", "m3")->reason,
                     "the platform marks it late, but its milestone has no due date");
    cr_expect_str_eq(sd_late_of(&lates, "bob", "m3")->reason,
                     "the platform marks it late without a time");
    sd_lates_free(&lates);
}
