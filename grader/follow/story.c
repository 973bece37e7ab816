/* The story of an output:
 *
 *     1. its value, and the threads that wrote it
 *     2. its products in the order of their addition, around the first wrong product
 *     3. the origin of the wrong operand
 *     4. missing products, and other terms of the sum
 */
#include "grader/follow/story.h"

#include <stdlib.h>
#include <string.h>

enum { AROUND = 3, FIRST_SHOWN = 8, LISTED = 8 };

/* ---- words ----------------------------------------------------------------------------------- */

static const char *place(char to[256], const struct db_story *s, const struct db_step *step)
{
    const char *slash = strrchr(step->file, '/'), *file = slash ? slash + 1 : step->file;
    const char *own = strrchr(s->source, '/');
    if (step->line == 0)
        snprintf(to, 256, "an unknown line");
    else
        snprintf(to, 256, "%s:%d",
                 s->source[0] && (strcmp(file, own ? own + 1 : s->source) == 0 ||
                                  strcmp(file, "conv.cu") == 0)
                     ? s->source
                     : file,
                 step->line);
    return to;
}

static const char *thread(char to[96], const struct db_step *step)
{
    snprintf(to, 96, "thread %u,%u,%u of block %u,%u,%u", step->thread[0], step->thread[1],
             step->thread[2], step->block[0], step->block[1], step->block[2]);
    return to;
}

/* Writes "x[0,1,3,4]". */
static const char *element(char to[64], const struct db_story *s, char tensor, long index)
{
    const struct conv_shape *c = &s->output.shape;
    const long sizes[2][4] = {{c->B, c->C, c->H, c->W}, {c->M, c->C, c->K, c->K}};
    const long *n = sizes[tensor == 'k'];
    if (s->matrices) {
        const long columns = tensor == 'k' ? c->C : c->W;
        snprintf(to, 64, "%c[%ld,%ld]", tensor, index / columns, index % columns);
        return to;
    }
    snprintf(to, 64, "%c[%ld,%ld,%ld,%ld]", tensor, index / (n[1] * n[2] * n[3]),
             index / (n[2] * n[3]) % n[1], index / n[3] % n[2], index % n[3]);
    return to;
}

/* Writes an operand: "x[0,0,1,0] 0.5", or "0 (not of x)" for a value from elsewhere. */
static const char *factor(char to[96], const struct db_story *s, const struct db_term *t,
                          char tensor)
{
    char name[64];
    const int operand = tensor == 'x' ? t->x_operand : !t->x_operand;
    const long index = tensor == 'x' ? t->x : t->k;
    const double value = (double)t->step->value[operand];
    if (index >= 0)
        snprintf(to, 96, "%s %.4g", element(name, s, tensor, index), value);
    else
        snprintf(to, 96, "%.4g (not of %c)", value, tensor);
    return to;
}

/* ---- the last steps of threads -------------------------------------------------------------- */

/* A step of a thread before a finding. */
struct recent {
    int finding, other, line;
    unsigned block[3], thread[3];
    unsigned long long address;
    char space[12];
    const char *what;
};

static bool read_recent(const struct tsv *table, size_t row, struct recent *r)
{
    const int fact = tsv_column(table, "fact"), value = tsv_column(table, "value");
    int at = 0;
    if (fact < 0 || value < 0 || strcmp(tsv_cell(table, row, fact), "recent") != 0)
        return false;
    const char *text = tsv_cell(table, row, value);
    r->what = text;
    const bool good =
        sscanf(text, "%d %d %u %u %u %u %u %u %d %llu %11s %n", &r->finding, &r->other,
               &r->block[0], &r->block[1], &r->block[2], &r->thread[0], &r->thread[1],
               &r->thread[2], &r->line, &r->address, r->space, &at) == 11;
    r->what += at;
    return good;
}

/* Finds the finding that a message describes, by its thread. */
static int finding_of(const struct tsv *table, const char *message)
{
    for (size_t i = 0; i < table->rows; i++) {
        struct recent r;
        char who[96];
        if (!read_recent(table, i, &r) || r.other)
            continue;
        snprintf(who, sizeof who, "block %u,%u,%u, thread %u,%u,%u:", r.block[0], r.block[1],
                 r.block[2], r.thread[0], r.thread[1], r.thread[2]);
        if (strstr(message, who))
            return r.finding;
    }
    return -1;
}

void db_recent_print(FILE *out, const struct tsv *table, const char *message)
{
    const int finding = finding_of(table, message);
    int before = -1;
    for (size_t i = 0; i < table->rows; i++) {
        struct recent r;
        if (!read_recent(table, i, &r) || r.finding != finding)
            continue;
        if (r.other != before)
            fprintf(out, "  the last accesses and barriers of thread %u,%u,%u of block %u,%u,%u:\n",
                    r.thread[0], r.thread[1], r.thread[2], r.block[0], r.block[1], r.block[2]);
        before = r.other;
        fprintf(out, "    line %-5d %s", r.line, r.what);
        if (strcmp(r.space, "shared") == 0)
            fprintf(out, " shared memory at 0x%llx", r.address);
        else if (r.space[0] != '-')
            fprintf(out, " %s memory", r.space);
        fputc('\n', out);
    }
}

/* ---- 1. the output --------------------------------------------------------------------------- */

static void print_writes(FILE *out, const struct db_story *s)
{
    char where[256], who[96];
    size_t writes = 0, shown = 0;
    for (size_t i = 0; i < s->steps->steps; i++)
        writes += s->steps->step[i].writes_output != 0;
    for (size_t i = 0; i < s->steps->steps; i++) {
        const struct db_step *step = &s->steps->step[i];
        const bool adds = step->kind == VG_PROOF_ATOMIC_ADD;
        if (!step->writes_output || (shown >= LISTED && !s->all))
            continue;
        shown++;
        fprintf(out, "  %s: %s %s %.9g, in %s\n", place(where, s, step), thread(who, step),
                adds ? "adds (atomically)" : "stores", (double)step->value[adds], step->kernel);
    }
    if (shown < writes)
        fprintf(out, "  ... %zu writes in all (--all shows them)\n", writes);
    if (!writes)
        fprintf(
            out,
            "  no kernel writes it: which thread should write it, and does its guard allow that?\n");
}

static void print_output(FILE *out, const struct db_story *s)
{
    const struct db_output *o = &s->output;
    const struct conv_shape *c = &o->shape;
    fprintf(out, "y[b=%d, m=%d, h=%d, w=%d] of shape B=%d M=%d C=%d H=%d W=%d K=%d: ", o->b, o->m,
            o->h, o->w, c->B, c->M, c->C, c->H, c->W, c->K);
    if (s->ended)
        fprintf(out, "expected %.7g; the run ended before y was complete\n", (double)s->expected);
    else if (!s->written)
        fprintf(out, "never written, expected %.7g\n", (double)s->expected);
    else
        fprintf(out, "%s: expected %.7g, got %.7g\n", s->right ? "right" : "wrong",
                (double)s->expected, (double)s->got);
    print_writes(out, s);
}

/* ---- 2. products ----------------------------------------------------------------------------- */

static void print_term(FILE *out, const struct db_story *s, size_t i)
{
    const struct db_term *t = &s->steps->term[i];
    char x[96], k[96], name[64], note[128] = "";
    if (t->verdict == DB_REPEATED)
        snprintf(note, sizeof note, "<-- added before");
    else if (t->verdict == DB_NOT_NEEDED)
        snprintf(note, sizeof note, "<-- not a product of this output");
    else if (t->verdict != DB_RIGHT && t->expected < 0)
        snprintf(note, sizeof note, "<-- expected an element outside of x");
    else if (t->verdict != DB_RIGHT) {
        const char tensor = t->verdict == DB_WRONG_X ? 'x' : 'k';
        snprintf(note, sizeof note, "<-- expected %s %.4g", element(name, s, tensor, t->expected),
                 (double)(tensor == 'x' ? s->x : s->k)[t->expected]);
    }
    fprintf(out, "  %5zu  line %-5d %-24s * %-24s %s\n", i + 1, t->step->line, factor(x, s, t, 'x'),
            factor(k, s, t, 'k'), note);
}

/* The index of the first wrong product, or the number of products. */
static size_t first_difference(const struct db_steps *steps)
{
    size_t i = 0;
    while (i < steps->terms && steps->term[i].verdict == DB_RIGHT)
        i++;
    return i;
}

static void print_terms(FILE *out, const struct db_story *s, size_t apart)
{
    const size_t n = s->steps->terms;
    const size_t from = s->all || apart == n ? 0 : apart > AROUND ? apart - AROUND : 0;
    const size_t to = s->all ? n : apart == n ? FIRST_SHOWN : apart + AROUND + 1;
    if (!n)
        return;
    fprintf(out, "\n%zu product%s, in the order of execution:\n", n, n == 1 ? "" : "s");
    if (from)
        fprintf(out, "    ...  %zu right products before\n", from);
    for (size_t i = from; i < to && i < n; i++)
        print_term(out, s, i);
    if (to < n)
        fprintf(out, "    ...  %zu more (--all shows them)\n", n - to);
}

/* ---- 3. the path of an operand -------------------------------------------------------------- */

static void print_way(FILE *out, const struct db_story *s, uint32_t from)
{
    const struct db_step *step = db_step_find(s->steps, from), *way[16];
    char where[256], who[96], name[64];
    size_t n = 0;
    for (; step && n < sizeof way / sizeof *way; step = db_step_find(s->steps, step->from[0]))
        if (step->kind == VG_PROOF_LOAD || step->kind == VG_PROOF_STORE)
            way[n++] = step;
    while (n--) {
        const bool load = way[n]->kind == VG_PROOF_LOAD;
        fprintf(out, "    %s: %s %s ", place(where, s, way[n]), thread(who, way[n]),
                load ? "loads" : "stores it to");
        if (load && way[n]->index < 0)
            fprintf(out, "it from ");
        else if (load)
            fprintf(out, "%s from ", element(name, s, way[n]->tensor, way[n]->index));
        fprintf(out, "%s memory", way[n]->space);
        if (strcmp(way[n]->space, "shared") == 0)
            fprintf(out, ", byte %llu", (unsigned long long)way[n]->address);
        fputc('\n', out);
    }
}

static void print_part(FILE *out, const struct db_story *s, size_t apart)
{
    const struct db_term *t = &s->steps->term[apart];
    const char tensor = t->verdict == DB_WRONG_K ? 'k' : 'x';
    const int operand = tensor == 'x' ? t->x_operand : !t->x_operand;
    char where[256], who[96];
    fprintf(out, "\nThe first wrong product is number %zu, at %s, by %s of %s.\n", apart + 1,
            place(where, s, t->step), thread(who, t->step), t->step->kernel);
    if (!t->step->from[operand]) {
        fprintf(out, "  Its %c is the number %.4g, which was not loaded from memory.\n", tensor,
                (double)t->step->value[operand]);
        return;
    }
    fprintf(out, "  The path of its %c:\n", tensor);
    print_way(out, s, t->step->from[operand]);
}

/* ---- 4. the other terms --------------------------------------------------------------------- */

static void print_missing(FILE *out, const struct db_story *s)
{
    const struct conv_shape *c = &s->output.shape;
    const int taps = c->C * c->K * c->K;
    char x[64], k[64];
    size_t shown = 0;
    if (!s->steps->missing || !s->steps->terms)
        return;
    fprintf(out, "\nOf the %d products that the output needs, %zu %s missing:\n", taps,
            s->steps->missing, s->steps->missing == 1 ? "is" : "are");
    for (int i = 0; i < taps && (shown < LISTED || s->all); i++)
        if (!s->steps->times[i] && ++shown)
            fprintf(out, "         %-24s * %s\n", element(x, s, 'x', db_needed_x(&s->output, i)),
                    element(k, s, 'k', db_needed_k(&s->output, i)));
    if (shown < s->steps->missing)
        fprintf(out, "    ...  %zu more (--all shows them)\n", s->steps->missing - shown);
}

/* Prints added numbers that are not products: an initial value, a bias, old contents of y. */
static void print_added(FILE *out, const struct db_story *s)
{
    char where[256];
    for (size_t i = 0, shown = 0; i < s->steps->steps && shown < LISTED; i++) {
        const struct db_step *step = &s->steps->step[i];
        const bool adds = step->kind == VG_PROOF_ADD || step->kind == VG_PROOF_SUBTRACT ||
                          step->kind == VG_PROOF_ATOMIC_ADD || step->kind == VG_PROOF_FMA;
        for (int k = step->kind == VG_PROOF_FMA ? 2 : 0; adds && k < 3; k++) {
            const struct db_step *from = db_step_find(s->steps, step->from[k]);
            while (from && from->kind == VG_PROOF_LOAD && from->index < 0)
                from = db_step_find(s->steps, from->from[0]);
            if (from || step->value[k] == 0)
                continue;
            fprintf(out, "\n%s adds %.7g, not a product: what is the first value of the sum?\n",
                    place(where, s, step), (double)step->value[k]);
            shown++;
        }
    }
}

/* Prints divisions, minima and similar operations, and products with values that are not
 * elements. */
static void print_other(FILE *out, const struct db_story *s)
{
    char where[256];
    for (size_t i = 0, shown = 0; i < s->steps->steps && shown < LISTED; i++) {
        const struct db_step *step = &s->steps->step[i];
        bool is_term = false;
        for (size_t t = 0; t < s->steps->terms && !is_term; t++)
            is_term = s->steps->term[t].step == step;
        if (is_term || (step->kind != VG_PROOF_OTHER && step->kind != VG_PROOF_MULTIPLY))
            continue;
        fprintf(
            out, "\n%s changes the sum by an operation other than addition: %s of %.7g and %.7g.\n",
            place(where, s, step), step->kind == VG_PROOF_MULTIPLY ? "the product" : "an operation",
            (double)step->value[0], (double)step->value[1]);
        shown++;
    }
}

/* ---- summary --------------------------------------------------------------------------------- */

/* Writes ", which conv.cu:30 stored to shared memory", or "" for a value that no thread stored. */
static void print_store(char *to, size_t room, const struct db_story *s, uint32_t from)
{
    const struct db_step *step = db_step_find(s->steps, from);
    char where[256];
    while (step && step->kind != VG_PROOF_STORE)
        step = db_step_find(s->steps, step->from[0]);
    to[0] = '\0';
    if (step)
        snprintf(to, room, ", which %.120s stored to %s memory", place(where, s, step),
                 step->space);
}

static void print_wrong_product(char *to, size_t room, const struct db_story *s, size_t apart)
{
    const struct db_term *t = &s->steps->term[apart];
    const bool k_wrong = t->verdict == DB_WRONG_K;
    const int operand = k_wrong ? !t->x_operand : t->x_operand;
    char where[256], x[96], k[96], stored[192], name[64];
    place(where, s, t->step);
    factor(x, s, t, 'x');
    factor(k, s, t, 'k');
    print_store(stored, sizeof stored, s, t->step->from[operand]);
    if (t->verdict == DB_REPEATED)
        snprintf(to, room, "product %zu of this output, at %.120s, adds %s * %s a second time",
                 apart + 1, where, x, k);
    else if (t->verdict == DB_NOT_NEEDED)
        snprintf(
            to, room,
            "product %zu of this output, at %.120s, is %s * %s, which the output does not need",
            apart + 1, where, x, k);
    else
        snprintf(to, room,
                 "product %zu of this output, at %.120s, multiplies %s by %s%s; it needs %s",
                 apart + 1, where, k_wrong ? x : k, k_wrong ? k : x, stored,
                 t->expected < 0 ? "an element outside of x"
                                 : element(name, s, k_wrong ? 'k' : 'x', t->expected));
}

/* Whether the sum has all its products, and others: it was not set to 0, or a loop is too long.
 * (A product with a number that is of neither tensor may fill a tile.) */
static bool has_more(const struct db_story *s, size_t apart)
{
    const struct conv_shape *c = &s->output.shape;
    const struct db_term *t = &s->steps->term[apart];
    return !s->steps->missing && s->steps->terms > (size_t)c->C * (size_t)c->K * (size_t)c->K &&
           t->verdict != DB_REPEATED && t->x >= 0 && t->k >= 0;
}

static void print_further_product(char *to, size_t room, const struct db_story *s, size_t apart)
{
    const struct db_term *t = &s->steps->term[apart];
    const struct db_step *store = NULL;
    char where[256], x[96], k[96];
    size_t stores = 0;
    for (size_t i = 0; i < s->steps->steps; i++)
        if (s->steps->step[i].writes_output && s->steps->step[i].kind == VG_PROOF_STORE) {
            store = &s->steps->step[i];
            stores++;
        }
    place(where, s, stores > 1 ? store : t->step);
    factor(x, s, t, 'x');
    factor(k, s, t, 'k');
    if (stores > 1)
        snprintf(
            to, room,
            "this output is stored %zu times, the last time at %.120s; %s * %s is in a sum, but the output does not need it",
            stores, where, x, k);
    else
        snprintf(
            to, room,
            "this output contains all its products, and also others: the first, at %.120s, is %s * %s",
            where, x, k);
}

static void print_missing_product(char *to, size_t room, const struct db_story *s)
{
    char x[64], k[64];
    int i = 0;
    while (s->steps->times[i])
        i++;
    snprintf(to, room, "%zu of the %zu products of this output are missing; the first is %s * %s",
             s->steps->missing, s->steps->missing + s->steps->terms,
             element(x, s, 'x', db_needed_x(&s->output, i)),
             element(k, s, 'k', db_needed_k(&s->output, i)));
}

/* Whether the output is 0, and nothing but stores of numbers has made it. (cudaMemset leaves no step.) */
static bool is_only_cleared(const struct db_story *s)
{
    for (size_t i = 0; i < s->steps->steps; i++) {
        const struct db_step *step = &s->steps->step[i];
        if (step->kind != VG_PROOF_STORE || !step->writes_output || step->from[0])
            return false;
    }
    return s->got == 0;
}

/* Whether the output is read to add to it: then several stores may be right. */
static bool is_added_to(const struct db_story *s, const struct db_step *store)
{
    for (size_t i = 0; i < s->steps->steps; i++) {
        const struct db_step *step = &s->steps->step[i];
        if (step->kind == VG_PROOF_ATOMIC_ADD ||
            (step->kind == VG_PROOF_LOAD && step->address == store->address &&
             strcmp(step->space, store->space) == 0))
            return true;
    }
    return false;
}

bool db_story_stores(char *to, size_t room, const struct db_story *s)
{
    const struct db_step *first = NULL, *other = NULL;
    const struct db_output *o = &s->output;
    char where[256], one[96], two[96];
    size_t stores = 0;
    to[0] = '\0';
    for (size_t i = 0; i < s->steps->steps; i++) {
        const struct db_step *step = &s->steps->step[i];
        if (!step->writes_output || step->kind != VG_PROOF_STORE)
            continue;
        stores++;
        first = first ? first : step;
        if (!other && (step->launch != first->launch ||
                       memcmp(step->thread, first->thread, sizeof step->thread) != 0 ||
                       memcmp(step->block, first->block, sizeof step->block) != 0))
            other = step;
    }
    if (!other || s->steps->lost || is_added_to(s, first))
        return false;
    snprintf(to, room,
             "y[%d,%d,%d,%d] is stored %zu times at %.120s, for example by %s and by %s%s", o->b,
             o->m, o->h, o->w, stores, place(where, s, other), thread(one, first),
             thread(two, other), first->launch != other->launch ? " of a later launch" : "");
    return true;
}

bool db_story_difference(char *to, size_t room, const struct db_story *s)
{
    const size_t apart = first_difference(s->steps);
    to[0] = '\0';
    if (s->right || s->steps->lost)
        return false;
    if (apart < s->steps->terms && has_more(s, apart))
        print_further_product(to, room, s, apart);
    else if (apart < s->steps->terms)
        print_wrong_product(to, room, s, apart);
    else if (s->steps->terms && s->steps->missing)
        print_missing_product(to, room, s);
    else if (!s->steps->terms && is_only_cleared(s))
        snprintf(to, room, "none of the %zu products of this output was added to it",
                 s->steps->missing);
    return to[0] != '\0';
}

void db_story_print(FILE *out, const struct db_story *s)
{
    const size_t apart = first_difference(s->steps);
    print_output(out, s);
    print_terms(out, s, apart);
    if (apart < s->steps->terms)
        print_part(out, s, apart);
    print_missing(out, s);
    print_added(out, s);
    print_other(out, s);
    if (s->right && apart == s->steps->terms && !s->steps->missing)
        fprintf(out, "\nThe output contains each of its %zu products once.\n", s->steps->terms);
}
