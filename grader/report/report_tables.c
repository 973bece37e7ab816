/* results.tsv and checks.tsv: the rows that a student plots and an instructor sorts. */
#include "grader/report/report_parts.h"

#include "base/tsv.h"

enum { RESULT_COLUMNS = 13, CHECK_COLUMNS = 8 };

void gr_results_tsv(FILE *out, const struct gr_result *result)
{
    static const char *const header[RESULT_COLUMNS] = {
        "subject", "model", "images", "layer", "B",      "M",        "C",
        "H",       "W",     "K",      "gmac",  "repeat", "op_time_s"};
    tsv_write_row(out, RESULT_COLUMNS, header);
    for (size_t i = 0; i < result->timings; i++) {
        const struct gr_timing *t = &result->timing[i];
        for (size_t r = 0; r < t->repeats; r++) {
            const int whole[] = {t->shape.B, t->layer,   t->shape.B, t->shape.M,
                                 t->shape.C, t->shape.H, t->shape.W, t->shape.K};
            char text[8][16], gmac[NUMBER_CHARS], repeat[24], time[NUMBER_CHARS];
            for (int c = 0; c < 8; c++)
                snprintf(text[c], sizeof text[c], "%d", whole[c]);
            snprintf(repeat, sizeof repeat, "%zu", r + 1);
            const char *const fields[RESULT_COLUMNS] = {gr_subject_name(t->subject),
                                                        t->model,
                                                        text[0],
                                                        text[1],
                                                        text[2],
                                                        text[3],
                                                        text[4],
                                                        text[5],
                                                        text[6],
                                                        text[7],
                                                        number_exact(gmac, t->gmac),
                                                        repeat,
                                                        number_exact(time, t->op_time_s[r])};
            tsv_write_row(out, RESULT_COLUMNS, fields);
        }
    }
}

void gr_checks_tsv(FILE *out, const struct gr_result *result)
{
    static const char *const header[CHECK_COLUMNS] = {"name",       "kind",    "status",  "points",
                                                      "max_points", "pattern", "message", "hint"};
    tsv_write_row(out, CHECK_COLUMNS, header);
    for (size_t i = 0; i < result->checks; i++) {
        const struct gr_check *c = &result->check[i];
        char points[NUMBER_CHARS], max_points[NUMBER_CHARS];
        const char *const fields[CHECK_COLUMNS] = {c->name,
                                                   "automatic",
                                                   gr_status_name(c->status),
                                                   number_exact(points, c->points),
                                                   number_exact(max_points, c->max_points),
                                                   c->pattern,
                                                   c->message,
                                                   c->hint};
        tsv_write_row(out, CHECK_COLUMNS, fields);
    }
    for (size_t i = 0; i < result->manuals; i++) {
        const struct gr_manual *m = &result->manual[i];
        char max_points[NUMBER_CHARS];
        const char *const fields[CHECK_COLUMNS] = {m->name,
                                                   "manual",
                                                   "left for the instructor",
                                                   "",
                                                   number_exact(max_points, m->max_points),
                                                   "",
                                                   m->text,
                                                   ""};
        tsv_write_row(out, CHECK_COLUMNS, fields);
    }
}
