#include "grader/class/final_parts.h"

#include "grader/standing/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points --------------------------------------------------------------------------------- */

/* For each milestone, a student's own grade counts if the student handed in the milestone alone;
 * otherwise the team's grade counts. */
static const struct gb_grade *counting_grade(const struct cl_source *s,
                                             const struct cl_final *final, const char *milestone)
{
    const struct gb_grade *own = gb_grade_of(&s->grades, final->submission, milestone),
                          *teams = NULL;
    if (!own || strcmp(own->status, "missing") == 0)
        teams = gb_grade_of(
            &s->grades,
            sd_team_of(&s->members, final->submission, cl_team_of(s, final->submission), milestone),
            milestone);
    return teams ? teams : own;
}

static bool is_no_rubric_item(const char *item)
{
    return strcmp(item, "late_days") == 0 || strcmp(item, "comment") == 0;
}

/* The sum of a milestone's manual points. @param n  set to the number of items that were entered */
static double manual_points(const struct cl_source *s, const char *name, const char *milestone,
                            size_t *n)
{
    double points = 0;
    *n = 0;
    for (size_t i = 0; i < s->items.n; i++) {
        const struct gb_manual_item *m = &s->items.row[i];
        if (strcmp(m->submission, name) != 0 || strcmp(m->milestone, milestone) != 0 ||
            is_no_rubric_item(m->item) || !isfinite(m->points))
            continue;
        points += m->points;
        ++*n;
    }
    return points;
}

/* The automatic points of a milestone, without the checks that --unchecked omits. */
static double automatic_max(const struct cl_source *s, const struct cl_part_milestone *m,
                            const struct gb_grade *grade)
{
    return m->automatic -
           (s->counts == SD_OMIT ? sd_unchecked_points(&s->unchecked, grade->attempt) : 0);
}

static double share(double points, double most)
{
    return most > 0 ? fmin(points / most, 1) : 0;
}

/* The share of one milestone in a part: 0 to 1. */
static double milestone_share(const struct cl_source *s, const struct cl_part *part,
                              const struct cl_part_milestone *m, struct cl_final *final)
{
    const struct gb_grade *grade = counting_grade(s, final, m->id);
    size_t entered;
    if (!grade)
        return 0;
    const double manual = manual_points(s, grade->submission, m->id, &entered);
    const bool is_open = strcmp(grade->status, "missing") != 0 &&
                         strcmp(grade->status, "rejected") != 0 && entered < m->manual_items;
    const size_t open = is_open ? m->manual_items - entered : 0,
                 faults = strcmp(grade->status, "fault") == 0;
    final->open += open;
    final->faults += faults;
    if (strcmp(grade->submission, final->submission) != 0) {
        final->teams_open += open;
        final->teams_faults += faults;
    }
    const double automatic = isfinite(grade->score) ? grade->score : 0;
    const double most = automatic_max(s, m, grade);
    const struct sd_late *late = s->student ? sd_late_of(&s->lates, s->student, m->id) : NULL;
    const double kept = late ? 1 - late->lost : 1;
    if (part->kind == CL_RUBRIC)
        return kept * share(automatic + manual, most + m->manual);
    return kept *
           (part->first * share(automatic, most) + (1 - part->first) * share(manual, m->manual));
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double best_milestones(const struct cl_source *s, const struct cl_part *part,
                              struct cl_final *final)
{
    double each[CL_MAX_OF], sum = 0;
    for (size_t i = 0; i < part->milestones; i++)
        each[i] = milestone_share(s, part, &part->milestone[i], final);
    qsort(each, part->milestones, sizeof *each, descending);
    for (size_t i = 0; i < part->best; i++)
        sum += each[i];
    return sum / (double)part->best;
}

static double item_of(const struct cl_source *s, const char *name, const char *item, bool *found)
{
    double sum = 0;
    *found = false;
    for (size_t i = 0; i < s->items.n; i++) {
        const struct gb_manual_item *m = &s->items.row[i];
        /* Late days may be entered per milestone: they are added up. */
        if (strcmp(m->submission, name) == 0 && strcmp(m->item, item) == 0 && isfinite(m->points) &&
            (!m->milestone[0] || is_no_rubric_item(item))) {
            sum += m->points;
            *found = true;
        }
    }
    return sum;
}

/* A student's own points for an item of the course, otherwise the team's; late days of both are
 * added. */
static double course_item(const struct cl_source *s, const char *name, const char *item,
                          bool *found)
{
    const char *const team = cl_team_of(s, name);
    bool teams = false;
    double points = item_of(s, name, item, found);
    if (*team && strcmp(team, name) != 0 && (!*found || is_no_rubric_item(item)))
        points += item_of(s, team, item, &teams);
    *found = *found || teams;
    return points;
}

/* Late days according to the deadlines, for milestones without late days entered by hand. */
static double late_days_by_deadlines(const struct cl_source *s, const char *name)
{
    double days = 0;
    for (size_t i = 0; s->student && s->lates.counts_days && i < s->lates.n; i++) {
        const struct sd_late *late = &s->lates.row[i];
        bool entered = strcmp(late->student, s->student) != 0;
        for (size_t k = 0; !entered && k < s->items.n; k++)
            entered = (strcmp(s->items.row[k].submission, name) == 0 ||
                       strcmp(s->items.row[k].submission, late->submission) == 0) &&
                      strcmp(s->items.row[k].milestone, late->milestone) == 0 &&
                      strcmp(s->items.row[k].item, "late_days") == 0;
        days += entered ? 0 : late->days_late;
    }
    return days;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static double part_points(const struct cl_source *s, const struct cl_part *part,
                          struct cl_final *final)
{
    bool found;
    double points;
    switch (part->kind) {
    case CL_RUBRIC:
    case CL_OPTIMISATION:
        return part->weight * best_milestones(s, part, final);
    case CL_MANUAL:
        points = course_item(s, final->submission, part->item, &found);
        final->open += !found;
        return part->weight * share(points, part->first);
    case CL_LATE:
        points = course_item(s, final->submission, part->item, &found);
        if (strcmp(part->item, "late_days") == 0)
            points += late_days_by_deadlines(s, final->submission);
        return points > part->first ? part->weight * (points - part->first) : 0;
    case CL_RANKING:
        break; /* needs the times of the whole class */
    }
    return 0;
}

/* Whether a part of the course counts a milestone's points. */
static bool is_counted(const void *of, const char *milestone)
{
    const struct cl_weights *weights = of;
    for (size_t p = 0; p < weights->parts; p++)
        for (size_t i = 0; i < weights->part[p].milestones; i++)
            if (weights->part[p].kind != CL_RANKING &&
                strcmp(weights->part[p].milestone[i].id, milestone) == 0)
                return true;
    return false;
}

static void note_uncounted(struct cl_final_list *list, const struct cl_source *s,
                           const struct cl_weights *weights)
{
    for (size_t i = 0; i < s->grades.n; i++) {
        const char *milestone = s->grades.row[i].milestone;
        bool noted = is_counted(weights, milestone);
        for (size_t k = 0; k < i && !noted; k++)
            noted = strcmp(s->grades.row[k].milestone, milestone) == 0;
        const size_t length = strlen(list->uncounted);
        if (!noted)
            snprintf(list->uncounted + length, sizeof list->uncounted - length, "%s%s",
                     length ? ", " : "", milestone);
    }
}

static void sum_up(struct cl_final *final, const struct cl_weights *weights)
{
    final->total = 0;
    for (size_t p = 0; p < weights->parts; p++)
        final->total += final->points[p];
    final->total = fmax(0, final->total);
}

/* Adds a row for each student who loses points for lateness: each member of a team has their own
 * slip days. */
static enum st_code add_late(struct cl_final_list *list, struct cl_source *s,
                             const struct cl_weights *weights, struct st_error *err)
{
    if (!(list->late = calloc(s->lates.n + 1, sizeof *list->late)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for the final grades");
    for (size_t i = 0; i < s->lates.n; i++) {
        const struct sd_late *l = &s->lates.row[i];
        const struct cl_final *of = NULL;
        for (size_t k = 0; k < list->n; k++)
            if (strcmp(list->row[k].submission, l->student) == 0 ||
                (!of && strcmp(list->row[k].submission, l->submission) == 0))
                of = &list->row[k];
        if (!of || (l->lost <= 0 && !l->days_late) || cl_final_of(list, l->student, NULL))
            continue;
        struct cl_final *final = &list->late[list->lates++];
        *final = (struct cl_final){.submission = strdup(of->submission),
                                   .team = strdup(of->team),
                                   .student = strdup(l->student),
                                   .grades = of->grades};
        s->student = final->student;
        for (size_t p = 0; p < weights->parts; p++)
            final->points[p] = weights->part[p].kind == CL_RANKING
                                   ? of->points[p]
                                   : part_points(s, &weights->part[p], final);
        sum_up(final, weights);
    }
    return ST_OK;
}

static void add_row(struct cl_final_list *list, const struct cl_source *s,
                    const struct cl_weights *weights, const char *name, const char *team)
{
    struct cl_final *final = &list->row[list->n++];
    final->submission = strdup(name);
    final->team = strdup(team);
    for (size_t g = 0; g < s->grades.n; g++)
        final->grades += strcmp(s->grades.row[g].submission, name) == 0;
    for (size_t p = 0; p < weights->parts; p++)
        final->points[p] = part_points(s, &weights->part[p], final);
    for (size_t r = 0; r < s->roster.n && !final->is_team; r++)
        final->is_team =
            sd_is_team_of(&s->members, s->roster.row[r].name, s->roster.row[r].team, name);
}

/* Whether a student has different teams for different milestones. Then no team's row has
 * all grades of the student, who gets a separate row even without a submission of their own. */
static bool has_several_teams(const struct cl_source *s, const struct gb_roster *student)
{
    bool others = false;
    for (size_t i = 0; i < s->submissions.n; i++)
        if (strcmp(s->submissions.row[i].name, student->name) == 0)
            return false;
    for (size_t i = 0; i < s->members.n; i++)
        others |= strcmp(s->members.row[i].student, student->name) == 0 &&
                  strcmp(s->members.row[i].submission, student->team) != 0;
    return others;
}

const struct cl_final *cl_final_of(const struct cl_final_list *list, const char *student,
                                   const struct cl_final *otherwise)
{
    for (size_t i = 0; i < list->lates; i++)
        if (strcmp(list->late[i].student, student) == 0)
            return &list->late[i];
    return otherwise;
}

enum st_code cl_final_make(struct cl_final_list *list, struct gradebook *book,
                           const struct cl_weights *weights, enum sd_unchecked unchecked,
                           struct st_error *err)
{
    struct cl_source s = {.counts = unchecked};
    memset(list, 0, sizeof *list);
    enum st_code code = cl_source_read(&s, book, err);
    if (!code && unchecked == SD_UNDECIDED)
        code = sd_unchecked_refuse(&s.unchecked, &s.grades, is_counted, weights, err);
    note_uncounted(list, &s, weights);
    if (!code && !(list->row = calloc(s.submissions.n + s.roster.n + 1, sizeof *list->row)))
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the final grades");
    for (size_t i = 0; !code && i < s.submissions.n; i++)
        add_row(list, &s, weights, s.submissions.row[i].name, s.submissions.row[i].team);
    for (size_t i = 0; !code && i < s.roster.n; i++)
        if (has_several_teams(&s, &s.roster.row[i]))
            add_row(list, &s, weights, s.roster.row[i].name, s.roster.row[i].team);
    for (size_t p = 0; !code && p < weights->parts; p++)
        if (weights->part[p].kind == CL_RANKING)
            code = cl_rank(&s, &weights->part[p], p, list, err);
    for (size_t p = 0; !code && p < weights->parts; p++)
        if (weights->part[p].kind == CL_RANKING)
            cl_share_places(&s, p, list);
    for (size_t i = 0; i < list->n; i++)
        sum_up(&list->row[i], weights);
    if (!code)
        code = add_late(list, &s, weights, err);
    cl_source_free(&s);
    if (code)
        cl_final_free(list);
    return code;
}

void cl_final_free(struct cl_final_list *list)
{
    for (size_t i = 0; i < list->n + list->lates; i++) {
        struct cl_final *final = i < list->n ? &list->row[i] : &list->late[i - list->n];
        free(final->submission);
        free(final->team);
        free(final->student);
    }
    free(list->row);
    free(list->late);
    memset(list, 0, sizeof *list);
}
