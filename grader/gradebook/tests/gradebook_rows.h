/* Gradebooks for tests, with rows in which every member that must not be NULL is set. */
#pragma once

#include "base/tests/temp_folder.h"
#include "grader/gradebook/gradebook.h"

#include <math.h>

/* Creates an empty gradebook for a test. */
static inline struct gradebook *open_class(void)
{
    struct gradebook *book;
    struct st_error err;
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_CREATE, &err), ST_OK, "%s", err.what);
    return book;
}

/* Adds a submission and a run, to which attempts refer. */
static inline void add_submission(struct gradebook *book, const char *name)
{
    struct st_error err;
    const struct gb_submission submission = {
        .name = (char *)name, .team = "", .kind = "folder", .status = "ok", .message = ""};
    const struct gb_run run = {.id = 1, .command = "", .version = "", .host = ""};
    cr_assert_eq(gb_submission_put(book, &submission, &err), ST_OK, "%s", err.what);
    cr_assert_eq(gb_run_put(book, &run, &err), ST_OK, "%s", err.what);
}

static inline struct gb_attempt attempt_row(const char *name, const char *milestone,
                                            const char *status, double score, double max_score)
{
    return (struct gb_attempt){.submission = (char *)name,
                               .milestone = (char *)milestone,
                               .run = 1,
                               .status = (char *)status,
                               .score = score,
                               .max_score = max_score,
                               .manual_max = NAN,
                               .seed = 7,
                               .version = "v",
                               .device = "cpu",
                               .profile = "",
                               .machine = "",
                               .compiler = "",
                               .sandbox = "none",
                               .options = "",
                               .cpu_s = NAN,
                               .speed_ratio = NAN,
                               .timed_on = "",
                               .timed_from = NAN,
                               .timed_until = NAN,
                               .message = ""};
}

static inline struct gb_check_result check_row(int position, const char *name, const char *status,
                                               double points, double max_points,
                                               const char *message)
{
    return (struct gb_check_result){.position = position,
                                    .name = (char *)name,
                                    .text = "",
                                    .status = (char *)status,
                                    .points = points,
                                    .max_points = max_points,
                                    .required = 1,
                                    .pattern = "",
                                    .message = (char *)message,
                                    .hint = ""};
}

static inline struct gb_timing timing_row(const char *subject, int layer, int images,
                                          double median_s)
{
    return (struct gb_timing){.subject = (char *)subject,
                              .model = "two-layer",
                              .layer = layer,
                              .images = images,
                              .median_s = median_s,
                              .op_times_s = ""};
}
