/* The stage that grades unit shapes: many small convolutions of every kind of shape, each on random
 * data, compared element by element with the oracle. What is wrong in all of them together is what
 * a diagnosis is made from, so a wrong output does not end the stage; a crash or a hang does. */
#include "base/rng.h"
#include "grader/diagnose.h"
#include "grader/grading.h"
#include "grader/verify.h"
#include "nn/oracle.h"

#include <stdlib.h>
#include <string.h>

/* Everything of one case lives in one allocation: x, k, ref, y, atol. */
struct unit {
    struct gr_case c;
    float *storage, *x, *k, *ref, *y, *atol;
};

static enum st_code unit_make(struct unit *u, const struct gr_case_shape *spec, uint64_t seed,
                              size_t number, struct st_error *err)
{
    const struct conv_shape *s = &spec->shape;
    size_t x = nn_conv_x_elems(s), k = nn_conv_k_elems(s), y = nn_conv_y_elems(s);
    u->storage = malloc((x + k + 2 * y + (size_t)s->M) * sizeof *u->storage);
    if (!u->storage)
        return st_fail(err, ST_NO_MEMORY, "cannot hold a unit shape in memory");
    u->x = u->storage;
    u->k = u->x + x;
    u->ref = u->k + k;
    u->y = u->ref + y;
    u->atol = u->y + y;
    u->c = (struct gr_case){*spec, u->x, u->k, u->ref, u->atol, u->y};
    struct rng rng = rng_make(seed, number);
    rng_fill(&rng, u->x, x, -1, 1);
    rng_fill(&rng, u->k, k, -1, 1);
    nn_oracle_conv(s, u->x, u->k, u->ref);
    nn_conv_tolerance(s, 1, u->k, u->atol);
    return ST_OK;
}

static void shape_text(char *to, size_t room, const struct gr_case_shape *spec)
{
    const struct conv_shape *s = &spec->shape;
    snprintf(to, room, "B=%d M=%d C=%d H=%d W=%d K=%d (%s)", s->B, s->M, s->C, s->H, s->W, s->K,
             spec->label);
}

/* All outputs are there: count, and name what is wrong. */
static void judge_outputs(struct grading *g, struct gr_check *check, const struct gr_case *cases,
                          const struct gr_compare *compared, size_t n)
{
    struct gr_result *r = g->result;
    size_t right = 0, wrong_elems = 0, elems = 0, first = n;
    for (size_t i = 0; i < n; i++) {
        right += compared[i].wrong == 0;
        wrong_elems += compared[i].wrong;
        elems += compared[i].elems;
        if (compared[i].wrong && first == n)
            first = i;
        if (compared[i].max_error > r->max_error)
            r->max_error = compared[i].max_error;
    }
    r->unit_shapes = n;
    r->unit_shapes_right = right;
    if (right == n) {
        gr_check_set(check, GR_PASS, "right in all %zu shapes, %zu outputs, largest error %.2g", n,
                     elems, r->max_error);
        return;
    }
    const struct gr_compare *c = &compared[first];
    char shape[128];
    shape_text(shape, sizeof shape, &cases[first].spec);
    struct gr_diagnosis diagnosis;
    gr_diagnose(cases, compared, n, &diagnosis);
    snprintf(check->pattern, sizeof check->pattern, "%s", diagnosis.pattern);
    gr_check_set(check, GR_FAIL,
                 "right in %zu of %zu shapes; %zu of %zu outputs are wrong\n"
                 "first mismatch: shape %s\n"
                 "    y[b=%d, m=%d, h=%d, w=%d]: expected %.7g, got %.7g\n"
                 "%s%s",
                 right, n, wrong_elems, elems, shape, c->b, c->m, c->h, c->w, (double)c->expected,
                 (double)c->got, diagnosis.message[0] ? "diagnosis: " : "", diagnosis.message);
    gr_check_hint(check, "%s", diagnosis.hint);
    gr_error_map(&cases[first], c, check->map, sizeof check->map);
}

enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_add(g, "unit_shapes");
    struct gr_case_shape specs[GR_MAX_CASES];
    size_t n = gr_case_shapes(specs, g->options->seed, g->options->quick), done = 0;
    struct unit *units = calloc(n, sizeof *units);
    struct gr_case *cases = calloc(n, sizeof *cases);
    struct gr_compare *compared = calloc(n, sizeof *compared);
    struct gr_damage damage = {.pattern = ""};
    struct gr_run run = {.outcome = GR_RAN};
    char shape[128] = "";
    size_t refused = 0;
    enum st_code code = ST_OK;
    if (!units || !cases || !compared) {
        code = st_fail(err, ST_NO_MEMORY, "cannot hold the unit shapes in memory");
        goto cleanup;
    }
    for (; done < n; done++) {
        struct unit *u = &units[done];
        if ((code = unit_make(u, &specs[done], g->options->seed, done, err)))
            goto cleanup;
        struct gr_conv conv = {.shape = specs[done].shape, .x = u->x, .k = u->k};
        struct arena_layout layout = arena_layout_for(&conv.shape);
        if ((code = arena_reserve(&g->arena, layout.bytes, err)))
            goto cleanup;
        gr_arena_fill(&g->arena, &conv);
        gr_session_run(&g->session, &conv.shape, &g->arena, gr_time_limit_s(&conv.shape), &run);
        if (run.outcome == GR_RETURNED) {
            if (!refused++)
                shape_text(shape, sizeof shape, &specs[done]);
        } else if (run.outcome != GR_RAN || !gr_arena_intact(&g->arena, &conv, &damage)) {
            shape_text(shape, sizeof shape, &specs[done]);
            break;
        }
        memcpy(u->y, g->arena.base + layout.y, nn_conv_y_elems(&conv.shape) * sizeof *u->y);
        cases[done] = u->c;
        gr_compare_images(&conv.shape, 0, (size_t)conv.shape.B, u->y, u->ref, u->atol,
                          &compared[done]);
    }
    if (damage.pattern[0]) {
        snprintf(check->pattern, sizeof check->pattern, "%s", damage.pattern);
        gr_check_set(check, GR_FAIL, "%s\nin shape %s, number %zu of %zu", damage.message, shape,
                     done + 1, n);
        gr_check_hint(check, "%s", damage.hint);
    } else if (done < n) {
        static const char *const names[] = {[GR_CRASHED] = "crash",
                                            [GR_EXITED] = "exit",
                                            [GR_TIMED_OUT] = "time_limit",
                                            [GR_SILENT] = "channel_closed"};
        snprintf(check->pattern, sizeof check->pattern, "%s", names[run.outcome]);
        gr_check_set(check, GR_FAIL, "%s\nin shape %s, number %zu of %zu", run.message, shape,
                     done + 1, n);
        gr_check_hint(check, "%s", run.hint);
    } else if (refused) {
        snprintf(check->pattern, sizeof check->pattern, "returned_error");
        gr_check_set(check, GR_FAIL,
                     "conv_forward returned an error (not 0) for %zu of %zu shapes, the first: %s",
                     refused, n, shape);
        gr_check_hint(check,
                      refused == n
                          ? "nothing is implemented yet? Write the loops, then return 0"
                          : "every valid shape must be computed: odd sizes, K = 1 and K = H too");
    } else {
        judge_outputs(g, check, cases, compared, n);
    }
    gr_check_print(g->out, check);

cleanup:
    for (size_t i = 0; units && i < n; i++)
        free(units[i].storage);
    free(units);
    free(cases);
    free(compared);
    return code;
}
