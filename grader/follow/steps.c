/* Reads steps, and finds which products the output needs. */
#include "grader/follow/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- indices --------------------------------------------------------------------------------- */

long db_needed_x(const struct db_output *o, int i)
{
    const struct conv_shape *s = &o->shape;
    const int q = i % s->K, p = i / s->K % s->K, c = i / (s->K * s->K);
    return (((long)o->b * s->C + c) * s->H + o->h + p) * s->W + o->w + q;
}

long db_needed_k(const struct db_output *o, int i)
{
    const struct conv_shape *s = &o->shape;
    return (long)o->m * s->C * s->K * s->K + i;
}

/* The number of the product that contains this element of x or k; -1: no product contains it. */
static int product_of_x(const struct db_output *o, long x)
{
    const struct conv_shape *s = &o->shape;
    const int w = (int)(x % s->W) - o->w, h = (int)(x / s->W % s->H) - o->h;
    const long plane = x / ((long)s->W * s->H);
    if (x < 0 || plane / s->C != o->b || h < 0 || h >= s->K || w < 0 || w >= s->K)
        return -1;
    return ((int)(plane % s->C) * s->K + h) * s->K + w;
}

static int product_of_k(const struct db_output *o, long k)
{
    const long taps = (long)o->shape.C * o->shape.K * o->shape.K;
    return k >= 0 && k / taps == o->m ? (int)(k % taps) : -1;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool read_step(struct db_step *s, const char *kernel, const char *text)
{
    unsigned long long address;
    int at = 0;
    const int n =
        sscanf(text, "%u %d %u %u %u %u %u %u %u %11s %llu %d %f %f %f %u %u %u %c %ld %n",
               &s->number, &s->kind, &s->launch, &s->block[0], &s->block[1], &s->block[2],
               &s->thread[0], &s->thread[1], &s->thread[2], s->space, &address, &s->writes_output,
               &s->value[0], &s->value[1], &s->value[2], &s->from[0], &s->from[1], &s->from[2],
               &s->tensor, &s->index, &at);
    const char *colon = strrchr(text, ':');
    if (n != 20 || !colon || colon < text + at)
        return false;
    s->address = address;
    s->kernel = kernel;
    s->line = atoi(colon + 1);
    snprintf(s->file, sizeof s->file, "%.*s", (int)(colon - text - at), text + at);
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct db_step *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

const struct db_step *db_step_find(const struct db_steps *steps, uint32_t number)
{
    const struct db_step key = {.number = number};
    if (!number || !steps->steps)
        return NULL;
    return bsearch(&key, steps->step, steps->steps, sizeof key, compare_numbers);
}

/* The load of an element of x or k from which a value comes, through stores and loads; or NULL. */
static const struct db_step *element_of(const struct db_steps *steps, uint32_t from)
{
    const struct db_step *s = db_step_find(steps, from);
    while (s && s->index < 0 && (s->kind == VG_PROOF_LOAD || s->kind == VG_PROOF_STORE))
        s = db_step_find(steps, s->from[0]);
    return s && s->index >= 0 ? s : NULL;
}

/* Whether a value was computed rather than only moved. */
static bool is_computed(const struct db_steps *steps, uint32_t from)
{
    const struct db_step *s = db_step_find(steps, from);
    while (s && s->index < 0 && (s->kind == VG_PROOF_LOAD || s->kind == VG_PROOF_STORE))
        s = db_step_find(steps, s->from[0]);
    return s && s->kind != VG_PROOF_LOAD && s->kind != VG_PROOF_STORE;
}

/* ---- products -------------------------------------------------------------------------------- */

static bool find_factors(const struct db_steps *steps, const struct db_step *s, struct db_term *t)
{
    *t = (struct db_term){.step = s, .x = -1, .k = -1, .expected = -1};
    if (s->kind != VG_PROOF_FMA && s->kind != VG_PROOF_MULTIPLY)
        return false;
    if (is_computed(steps, s->from[0]) || is_computed(steps, s->from[1]))
        return false;
    const struct db_step *a = element_of(steps, s->from[0]), *b = element_of(steps, s->from[1]);
    if (!a && !b)
        return false;
    const bool swapped = (a && a->tensor == 'k') || (!a && b->tensor == 'x');
    const struct db_step *x = swapped ? b : a, *k = swapped ? a : b;
    t->x_operand = swapped;
    t->x = x && x->tensor == 'x' ? x->index : -1;
    t->k = k && k->tensor == 'k' ? k->index : -1;
    return true;
}

static void judge(struct db_steps *steps, const struct db_output *o, struct db_term *t)
{
    const int by_x = product_of_x(o, t->x), by_k = product_of_k(o, t->k);
    if (by_x >= 0 && by_x == by_k) {
        t->verdict = steps->times[by_k] ? DB_REPEATED : DB_RIGHT;
        steps->times[by_k] += steps->times[by_k] < UINT8_MAX;
    } else if (by_k >= 0) {
        t->verdict = DB_WRONG_X;
        t->expected = db_needed_x(o, by_k);
    } else if (by_x >= 0) {
        t->verdict = DB_WRONG_K;
        t->expected = db_needed_k(o, by_x);
    } else {
        t->verdict = DB_NOT_NEEDED;
    }
}

static enum st_code find_terms(struct db_steps *to, const struct db_output *o, struct st_error *err)
{
    const size_t taps = (size_t)o->shape.C * (size_t)o->shape.K * (size_t)o->shape.K;
    to->term = calloc(to->steps + 1, sizeof *to->term);
    to->times = calloc(taps, 1);
    if (!to->term || !to->times)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the products of an output");
    for (size_t i = 0; i < to->steps; i++)
        if (find_factors(to, &to->step[i], &to->term[to->terms]))
            judge(to, o, &to->term[to->terms++]);
    for (size_t i = 0; i < taps; i++)
        to->missing += !to->times[i];
    return ST_OK;
}

enum st_code db_steps_read(struct db_steps *to, const struct tsv *table,
                           const struct db_output *output, struct st_error *err)
{
    const int kernel = tsv_column(table, "kernel"), fact = tsv_column(table, "fact"),
              value = tsv_column(table, "value");
    *to = (struct db_steps){0};
    if (kernel < 0 || fact < 0 || value < 0)
        return st_fail(err, ST_BAD_FORMAT, "a column is missing in the table of the proof");
    to->step = calloc(table->rows + 1, sizeof *to->step);
    if (!to->step)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the steps of an output");
    for (size_t i = 0; i < table->rows; i++) {
        const char *what = tsv_cell(table, i, fact), *text = tsv_cell(table, i, value);
        to->lost |= strcmp(what, "steps_lost") == 0;
        if (strcmp(what, "step") != 0)
            continue;
        if (!read_step(&to->step[to->steps++], tsv_cell(table, i, kernel), text))
            return st_fail(err, ST_BAD_FORMAT, "a step of an output cannot be read: %.100s", text);
    }
    if (to->steps)
        qsort(to->step, to->steps, sizeof *to->step, compare_numbers);
    return find_terms(to, output, err);
}

void db_steps_free(struct db_steps *steps)
{
    free(steps->step);
    free(steps->term);
    free(steps->times);
    *steps = (struct db_steps){0};
}
