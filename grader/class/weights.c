/* Reads the table of a course's weights. */
#include "grader/class/final.h"

#include "base/numbers.h"
#include "base/tsv.h"
#include "grader/class/class_names.h"
#include "grader/course/milestone.h"
#include "grader/course/rubric.h"

#include <math.h>
#include <string.h>

enum { PART, WEIGHT, KIND, OF, BEST, FIRST, SECOND, COLUMNS };
static const char *const column_names[COLUMNS] = {"part", "weight", "kind",  "of",
                                                  "best", "first",  "second"};
static const char *const kind_names[] = {"rubric", "optimisation", "ranking", "manual", "late"};

static enum st_code wrong(struct st_error *err, const char *path, size_t line, const char *what,
                          const char *expected, const char *got)
{
    st_fail(err, ST_BAD_FORMAT, "%s", what);
    st_detail(err, ST_WHERE, "%s, line %zu", path, line);
    st_detail(err, ST_EXPECTED, "%s", expected);
    st_detail(err, ST_GOT, "%s", got);
    return st_detail(err, ST_HINT, "see docs/class.md, final grades");
}

/* Reads the points of a milestone's rubric. */
static enum st_code add_milestone(struct cl_part *part, const char *id, struct st_error *err)
{
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    enum st_code code = gr_milestone_find(&milestone, id, err);
    if (!code)
        code = gr_rubric_load(&rubric, milestone.rubric, err);
    if (code)
        return code;
    struct cl_part_milestone *m = &part->milestone[part->milestones++];
    snprintf(m->id, sizeof m->id, "%s", id);
    for (unsigned i = 0; i < rubric->items_count; i++) {
        const struct gr_item *item = &rubric->items[i];
        *(item->kind == GR_MANUAL ? &m->manual : &m->automatic) += item->points;
        m->manual_items += item->kind == GR_MANUAL;
    }
    gr_rubric_free(rubric);
    return ST_OK;
}

static enum st_code parse_of(struct cl_part *part, const char *of, struct st_error *err)
{
    if (part->kind == CL_MANUAL || part->kind == CL_LATE) {
        snprintf(part->item, sizeof part->item, "%s", of);
        return ST_OK;
    }
    enum st_code code = ST_OK;
    char id[16];
    while (!code && cl_list_next(&of, id, sizeof id))
        code = part->milestones == CL_MAX_OF ? st_fail(err, ST_TOO_LARGE, "too many milestones")
                                             : add_milestone(part, id, err);
    return code;
}

static enum st_code parse_row(struct cl_part *part, const struct tsv *table, size_t row,
                              const int column[COLUMNS], const char *path, struct st_error *err)
{
    const char *cell[COLUMNS];
    double best;
    for (int i = 0; i < COLUMNS; i++)
        cell[i] = tsv_cell(table, row, column[i]);
    snprintf(part->name, sizeof part->name, "%s", cell[PART]);
    size_t kind = 0, kinds = sizeof kind_names / sizeof *kind_names;
    while (kind < kinds && strcmp(kind_names[kind], cell[KIND]) != 0)
        kind++;
    if (kind == kinds)
        return wrong(err, path, row + 2, "unknown kind of part",
                     "rubric, optimisation, ranking, manual or late", cell[KIND]);
    part->kind = (enum cl_part_kind)kind;
    if (!number_read(cell[WEIGHT], &part->weight))
        return wrong(err, path, row + 2, "invalid weight", "a number", cell[WEIGHT]);
    if (!number_read(cell[BEST], &best) || best < 0 || best != floor(best))
        return wrong(err, path, row + 2, "invalid number of milestones that count",
                     "a whole number", cell[BEST]);
    if (!number_read(cell[FIRST], &part->first) || !number_read(cell[SECOND], &part->second))
        return wrong(err, path, row + 2, "invalid constant", "a number", cell[FIRST]);
    part->best = (size_t)best;
    if (part->kind == CL_MANUAL && part->first <= 0)
        return wrong(err, path, row + 2, "a manual part has no maximum points",
                     "the maximum points in column 'first'", cell[FIRST]);
    enum st_code code = parse_of(part, cell[OF], err);
    if (code)
        st_detail(err, ST_WHERE, "%s, line %zu", path, row + 2);
    if (!code && part->kind <= CL_OPTIMISATION && (part->best < 1 || part->best > part->milestones))
        return wrong(err, path, row + 2, "invalid number of milestones that count",
                     "a number from 1 to the number of milestones of the part", cell[BEST]);
    return code;
}

enum st_code cl_weights_read(struct cl_weights *weights, const char *path, struct st_error *err)
{
    struct tsv table;
    int column[COLUMNS];
    memset(weights, 0, sizeof *weights);
    enum st_code code = tsv_read(path, &table, err);
    if (code)
        return code;
    for (int i = 0; !code && i < COLUMNS; i++)
        if ((column[i] = tsv_column(&table, column_names[i])) < 0)
            code = wrong(err, path, 1, "a column is missing", column_names[i],
                         table.columns ? table.header[0] : "");
    if (!code && table.rows > CL_MAX_PARTS)
        code = wrong(err, path, table.rows + 1, "too many parts", "at most 16", "");
    for (size_t row = 0; !code && row < table.rows; row++)
        code = parse_row(&weights->part[weights->parts++], &table, row, column, path, err);
    tsv_free(&table);
    return code;
}
