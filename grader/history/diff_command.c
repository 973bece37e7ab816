/* grader diff mN [A] [B]: prints the changes between two versions. */
#include "grader/history/compare_versions.h"
#include "grader/history/history_command.h"

#include "base/option_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 8 };

struct arguments {
    const char *word[3]; /* MILESTONE, A, B */
    size_t words;
};

/* ---- the two versions ----------------------------------------------------------------------- */

static void print_versions(const struct hi_change *c)
{
    for (int side = 0; side < 2; side++) {
        const struct gr_result *r = c->result[side];
        char device[128], hash[GR_SHORT_HASH + 1];
        printf("%s  %s  number %u, graded %s on %s\n", side ? "after " : "before",
               gr_short_hash(hash, r), c->version[side].number, r->date,
               hi_device_words(device, r));
    }
    if (c->match.n)
        printf("Source: %zu line%s added, %zu removed\n", c->match.added,
               c->match.added == 1 ? "" : "s", c->match.removed);
}

/* ---- checks ----------------------------------------------------------------------------------- */

/* Whether a run requested a check; otherwise the check does not count as changed. */
static bool was_checked(const struct gr_check *check)
{
    return check && (check->status != GR_SKIP || check->required);
}

static void print_check(const struct gr_check *before, const struct gr_check *after)
{
    if (!was_checked(before) || !was_checked(after))
        return;
    if (before->status == after->status && before->points == after->points)
        return;
    printf("  %-16s %s -> %s, %g -> %g points\n", after->name, gr_status_name(before->status),
           gr_status_name(after->status), before->points, after->points);
    if (after->status == GR_FAIL)
        printf("      %.*s\n", (int)strcspn(after->message, "\n"), after->message);
}

static void print_checks(const struct hi_change *c)
{
    const struct gr_result *a = c->result[HI_BEFORE], *b = c->result[HI_AFTER];
    printf("\nPoints: %g -> %g%s\n", a->score, b->score,
           gr_unchecked_points(a) == gr_unchecked_points(b) ? "" : " (different checks ran)");
    for (size_t i = 0; i < b->checks; i++)
        print_check(gr_result_check(a, b->check[i].name), &b->check[i]);
}

/* ---- Op Times --------------------------------------------------------------------------------- */

static void print_time(const struct hi_change *c, size_t images, int layer)
{
    char words[HI_WORDS];
    double noise[2], seconds[2];
    for (int side = 0; side < 2; side++)
        seconds[side] = hi_op_time(c->result[side], images, layer, &noise[side]);
    if (!isfinite(seconds[0]) && !isfinite(seconds[1]))
        return;
    printf("  %6zu  %5d", images, layer);
    for (int side = 0; side < 2; side++)
        if (isfinite(seconds[side]))
            printf("  %10.4g", seconds[side] * 1e3);
        else
            printf("  %10s", "-");
    printf("  %s\n", hi_time_words(words, seconds[0], seconds[1], hypot(noise[0], noise[1])));
}

static void print_times(const struct hi_change *c)
{
    const struct gr_result *b = c->result[HI_AFTER];
    if (!hi_is_comparable(c->result[0], b) || !b->inferences)
        return;
    printf("\nOp Times (ms)%s\n  images  layer      before       after\n",
           strcmp(b->device, "virtual") == 0 ? ", modelled" : "");
    for (size_t i = 0; i < b->inferences; i++)
        for (int layer = 1; layer <= b->inference[i].convs; layer++)
            print_time(c, b->inference[i].images, layer);
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static void print_line(const struct hi_kernel *k, const struct hi_line *l)
{
    enum hi_count counts[HI_COUNTS];
    char place[HI_WORDS], words[HI_WORDS];
    const size_t n = hi_line_counts(k, l, counts);
    for (size_t i = 0; i < n; i++) {
        const double before = l->count[HI_BEFORE][counts[i]], after = l->count[HI_AFTER][counts[i]];
        printf("    %-34s %s: %.0f -> %.0f\n", i ? "" : hi_place_words(place, &l->place),
               hi_count_words(words, counts[i], before, after), before, after);
    }
}

static void print_kernel(const struct hi_kernel *k)
{
    fputs("  ", stdout);
    hi_kernel_sentence(stdout, k);
    putchar('\n');
    if (k->ns[HI_BEFORE] > 0 && k->ns[HI_AFTER] > 0)
        printf("    %-34s %.4g -> %.4g ms\n", "time", k->ns[HI_BEFORE] * 1e-6,
               k->ns[HI_AFTER] * 1e-6);
    if (k->limit[HI_BEFORE][0] && k->limit[HI_AFTER][0])
        printf("    %-34s %s%s%s\n", "limited by", k->limit[HI_BEFORE],
               strcmp(k->limit[0], k->limit[1]) == 0 ? "" : " -> ",
               strcmp(k->limit[0], k->limit[1]) == 0 ? "" : k->limit[HI_AFTER]);
    for (size_t i = 0; i < k->n && i < LINES_SHOWN; i++)
        print_line(k, &k->line[i]);
    if (k->n > LINES_SHOWN)
        printf("    and %zu more with less effect\n", k->n - LINES_SHOWN);
}

static void print_kernels(const struct hi_change *c)
{
    if (c->kernels)
        printf("\nKernels, %ld images%s\n", c->images,
               strcmp(c->result[0]->device, "virtual") == 0
                   ? " (counts are exact, times are modelled)"
                   : "");
    for (size_t i = 0; i < c->kernels; i++)
        print_kernel(&c->kernel[i]);
    if (c->missing[0])
        printf("\nNot compared: %s\n", c->missing);
}

/* ---- the command ------------------------------------------------------------------------------ */

static void take_word(void *to, char *text, const struct option_row *row, struct argp_state *state)
{
    struct arguments *a = to;
    (void)row;
    if (a->words == 3)
        argp_error(state, "expected a milestone and at most two versions, also got '%s'", text);
    a->word[a->words++] = text;
}

static void check(void *arguments, struct argp_state *state)
{
    if (!((struct arguments *)arguments)->words)
        argp_error(state, "expected a milestone, for example: grader diff m3");
}

static enum st_code run(const struct arguments *a, struct st_error *err)
{
    struct gr_milestone milestone;
    struct hi_list list;
    struct hi_change *c = calloc(1, sizeof *c);
    enum st_code code = c ? hi_milestone_list(a->word[0], &milestone, &list, err)
                          : st_fail(err, ST_NO_MEMORY, "out of memory for two versions");
    if (!code)
        code = hi_versions_choose(&list, a->word[1], a->word[2], c, err);
    if (!code)
        code = hi_change_find(c, err);
    if (!code) {
        print_versions(c);
        print_checks(c);
        print_times(c);
        print_kernels(c);
    }
    if (c) {
        hi_list_free(&list);
        hi_change_free(c);
    }
    free(c);
    return code;
}

int gr_command_diff(int argc, char **argv);
int gr_command_diff(int argc, char **argv)
{
    struct arguments a = {0};
    static const struct option_row rows[] = {{.value = "milestone", OPTION_OPERANDS(take_word)},
                                             {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "MILESTONE [BEFORE [AFTER]]",
        .check = check,
        .about =
            "Print the differences between two graded versions of a milestone: points and checks, Op Times, and, if both were graded with --profile on the virtual GPU, whose counters are exact, the differences by kernel and source line.\v"
            "BEFORE and AFTER are numbers or the first digits of versions, as grader log lists them. AFTER defaults to the newest version, BEFORE to the previous one on the same device. Exit status: 0 printed, 2 not."};
    options_parse(&table, argc, argv, &a);
    struct st_error err;
    const enum st_code code = run(&a, &err);
    if (code)
        st_print(stderr, argv[0], &err);
    return code ? 2 : 0;
}
