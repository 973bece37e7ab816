/* Writes results.tsv, checks.tsv and evidence.tsv, whose rows students can plot and instructors can
 * sort. */
#include "grader/report/report_parts.h"

#include "base/tsv.h"

static void add_number(struct tsv_row *row, double value)
{
    char digits[NUMBER_CHARS];
    tsv_row_add(row, "%s", number_exact(digits, value));
}

void gr_results_tsv(FILE *out, const struct gr_result *result)
{
    static const char *const header[] = {"subject", "model",  "images",   "layer", "B",
                                         "M",       "C",      "H",        "W",     "K",
                                         "gmac",    "repeat", "op_time_s"};
    struct tsv_row row;
    tsv_write_row(out, sizeof header / sizeof *header, header);
    tsv_row_start(&row, 0);
    for (size_t i = 0; i < result->timings; i++) {
        const struct gr_timing *t = &result->timing[i];
        const int whole[] = {(int)gr_timing_size(t),
                             t->layer,
                             t->shape.B,
                             t->shape.M,
                             t->shape.C,
                             t->shape.H,
                             t->shape.W,
                             t->shape.K};
        for (size_t r = 0; r < t->repeats; r++) {
            tsv_row_add_text(&row, gr_subject_name(t->subject));
            tsv_row_add_text(&row, t->model);
            for (size_t c = 0; c < sizeof whole / sizeof *whole; c++)
                tsv_row_add(&row, "%d", whole[c]);
            add_number(&row, t->gmac);
            tsv_row_add(&row, "%zu", r + 1);
            add_number(&row, t->op_time_s[r]);
            tsv_row_write(&row, out);
        }
    }
}

void gr_checks_tsv(FILE *out, const struct gr_result *result)
{
    static const char *const header[] = {"name",       "kind",    "status",  "points",
                                         "max_points", "pattern", "message", "hint"};
    struct tsv_row row;
    tsv_write_row(out, sizeof header / sizeof *header, header);
    tsv_row_start(&row, 0);
    for (size_t i = 0; i < result->checks; i++) {
        const struct gr_check *c = &result->check[i];
        tsv_row_add_text(&row, c->name);
        tsv_row_add_text(&row, "automatic");
        tsv_row_add_text(&row, gr_status_name(c->status));
        add_number(&row, c->points);
        add_number(&row, c->max_points);
        tsv_row_add_text(&row, c->pattern);
        tsv_row_add_text(&row, c->message);
        tsv_row_add_text(&row, c->hint);
        tsv_row_write(&row, out);
    }
    for (size_t i = 0; i < result->manuals; i++) {
        const struct gr_manual *m = &result->manual[i];
        tsv_row_add_text(&row, m->name);
        tsv_row_add_text(&row, "manual");
        tsv_row_add_text(&row, "scored by the instructor");
        tsv_row_add_text(&row, "");
        add_number(&row, m->max_points);
        tsv_row_add_text(&row, "");
        tsv_row_add_text(&row, m->text);
        tsv_row_add_text(&row, "");
        tsv_row_write(&row, out);
    }
}

void gr_evidence_tsv(FILE *out, const struct gr_result *r)
{
    static const char *const header[] = {"fact", "holds", "found", "text"};
    tsv_write_row(out, 4, header);
    for (size_t i = 0; i < r->evidences; i++) {
        char found[NUMBER_CHARS];
        const char *const fields[] = {r->evidence[i].fact, r->evidence[i].holds ? "yes" : "no",
                                      number_exact(found, r->evidence[i].found),
                                      r->evidence[i].text};
        tsv_write_row(out, 4, fields);
    }
}
