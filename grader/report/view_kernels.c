/* A card for each kernel and grid: its limiter and the advice, how busy each part of the GPU is,
 * its instructions, and its occupancy with the limiting resource. */
#include "grader/report/view.h"

#include "grader/report/report_parts.h"
#include "grader/report/timeline_page.h"

#include <stdlib.h>
#include <string.h>

enum { CARDS = 8, COLORS = 6 };

/* Bars and kernels' cards with smaller shares of time are omitted. */
#define LEAST_BUSY  0.01
#define LEAST_SHARE 0.01

/* A row of analysis.tsv, and the profile. */
struct card {
    FILE *out;
    const struct gr_view *v;
    size_t row;
};

static const char *of(const struct card *c, const char *column)
{
    return tsv_text(&c->v->analysis, c->row, column);
}

/* Whether a row of resources.tsv belongs to this card's kernel and has this kind. */
static bool is_ours(const struct card *c, size_t row, const char *kind)
{
    static const char *const keys[] = {"images", "kernel", "grid", "block"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(tsv_text(&c->v->resources, row, keys[i]), of(c, keys[i])) != 0)
            return false;
    return strcmp(tsv_text(&c->v->resources, row, "kind"), kind) == 0;
}

static void put_bar(FILE *out, const char *title, double share, const char *kind)
{
    fprintf(out, "<li class=\"%s\" style=\"--w:%.1f%%\"><span>", kind, 100 * share);
    gr_put_html(out, title);
    fprintf(out, "</span><i></i><b>%.0f%%</b></li>\n", 100 * share);
}

struct used {
    size_t row;
    double share;
};

static int by_share(const void *a, const void *b)
{
    const struct used *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows of a kind, those with the largest share first, in an array to free. @param n  set to the
 * number of rows */
static struct used *rows_of(const struct card *c, const char *kind, double least, size_t *n)
{
    const struct tsv *t = &c->v->resources;
    struct used *used = calloc(t->rows + 1, sizeof *used);
    *n = 0;
    for (size_t row = 0; used && row < t->rows; row++)
        if (is_ours(c, row, kind) && gr_view_number(t, row, "share") >= least)
            used[(*n)++] = (struct used){row, gr_view_number(t, row, "share")};
    if (used)
        qsort(used, *n, sizeof *used, by_share);
    return used;
}

static void put_busy(const struct card *c)
{
    size_t n;
    struct used *used = rows_of(c, "busy", LEAST_BUSY, &n);
    if (n)
        fputs(
            "<h4>Speed of light</h4>\n<p class=\"hint\">The time that each resource alone would take, as a share of the kernel's time.</p>\n<ul class=\"bars\">\n",
            c->out);
    for (size_t i = 0; i < n; i++)
        put_bar(c->out, tsv_text(&c->v->resources, used[i].row, "text"), used[i].share,
                i ? "" : "most");
    fputs(n ? "</ul>\n" : "", c->out);
    free(used);
}

/* Whether the kernel was also launched with other grids. */
static bool has_other_cards(const struct card *c)
{
    const struct tsv *t = &c->v->analysis;
    size_t n = 0;
    for (size_t row = 0; row < t->rows; row++)
        n += strcmp(tsv_text(t, row, "kernel"), of(c, "kernel")) == 0 &&
             strcmp(tsv_text(t, row, "images"), of(c, "images")) == 0;
    return n > 1;
}

static void put_mix(const struct card *c)
{
    size_t n;
    double others = 1;
    struct used *used = rows_of(c, "instruction", 0.005, &n);
    n = n > COLORS ? COLORS : n;
    if (n)
        fprintf(c->out, "<h4>Instructions</h4>\n%s",
                has_other_cards(c) ? "<p class=\"hint\">Over all launches of this kernel.</p>\n"
                                   : "");
    if (n)
        fputs("<div class=\"mix\" aria-hidden=\"true\">", c->out);
    for (size_t i = 0; i < n; i++)
        fprintf(c->out, "<i class=\"c%zu\" style=\"--w:%.1f%%\"></i>", i, 100 * used[i].share);
    fputs(n ? "</div>\n<ul class=\"legend\">\n" : "", c->out);
    for (size_t i = 0; i < n; i++) {
        fprintf(c->out, "<li class=\"c%zu\">%.0f%% ", i, 100 * used[i].share);
        gr_put_html(c->out, tsv_text(&c->v->resources, used[i].row, "text"));
        fputs("</li>\n", c->out);
        others -= used[i].share;
    }
    if (n && others > 0.005)
        fprintf(c->out, "<li>%.0f%% others</li>\n", 100 * others);
    fputs(n ? "</ul>\n" : "", c->out);
    free(used);
}

static void put_occupancy(const struct card *c)
{
    const struct tsv *t = &c->v->resources;
    const char *why = "";
    bool any = false;
    for (size_t row = 0; row < t->rows; row++) {
        if (!is_ours(c, row, "occupancy"))
            continue;
        fputs(any ? "" : "<h4>Occupancy</h4>\n<ul class=\"bars\">\n", c->out);
        put_bar(c->out, tsv_text(t, row, "name"), gr_view_number(t, row, "share"), "");
        why = tsv_text(t, row, "text");
        any = true;
    }
    fputs(any ? "</ul>\n<p class=\"hint\">A multiprocessor holds " : "", c->out);
    gr_put_html(c->out, why);
    fputs(any ? ".</p>\n" : "", c->out);
}

static void put_verdict(const struct card *c)
{
    char place[GR_PLACE_CHARS];
    fputs("<p class=\"verdict\"><b>Limited by ", c->out);
    gr_put_html(c->out, of(c, "title"));
    fputs(".</b> ", c->out);
    gr_put_html(c->out, of(c, "advice"));
    fputs("</p>\n", c->out);
    if (!of(c, "file")[0])
        return;
    fprintf(c->out, "<p class=\"where\"><a href=\"#L%ld\">", strtol(of(c, "line"), NULL, 10));
    gr_put_html(c->out, gr_place_text(place, of(c, "file"), of(c, "line")));
    fputs("</a> <code>", c->out);
    gr_put_html(c->out, of(c, "source"));
    fputs("</code></p>\n", c->out);
}

/* Writes a link to the page that shows the running kernel, which is a file in this page's
 * folder. */
static void put_picture(const struct card *c)
{
    const struct tsv *t = &c->v->pictures;
    for (size_t row = 0; row < t->rows; row++) {
        const char *page = tsv_text(t, row, "page");
        if (strcmp(tsv_text(t, row, "kernel"), of(c, "kernel")) != 0 || strchr(page, '/') ||
            strncmp(page, "run", 3) != 0)
            continue;
        fputs("<p class=\"see\"><a href=\"profile/", c->out);
        gr_put_html(c->out, page);
        fprintf(c->out, "\">See it run</a>: a block of this kernel%s, step by step.</p>\n",
                has_other_cards(c) ? "'s largest launch" : "");
        return;
    }
}

/* @param all  nanoseconds in kernels */
static void put_card(const struct card *c, double all)
{
    const double ns = gr_view_number(&c->v->analysis, c->row, "total_ns");
    char time[GR_TIME_CHARS];
    const char *name = of(c, "kernel");
    fputs("<article class=\"kernel\">\n<h3><code>", c->out);
    gr_put_html(c->out, name);
    fputs("</code></h3>\n<p class=\"launch\"><b>", c->out);
    gr_put_html(c->out, gr_time_text(time, 1e-9 * ns));
    fprintf(c->out, "</b>, %.1f%% of the time in kernels: %ld × grid ", 100 * ns / all,
            strtol(of(c, "calls"), NULL, 10));
    gr_put_html(c->out, of(c, "grid"));
    fputs(" of blocks ", c->out);
    gr_put_html(c->out, of(c, "block"));
    fputs("</p>\n", c->out);
    put_verdict(c);
    put_picture(c);
    fputs("<div class=\"figures\">\n<div>", c->out);
    put_busy(c);
    fputs("</div>\n<div>", c->out);
    put_mix(c);
    put_occupancy(c);
    fputs("</div>\n</div>\n<p class=\"hint\">", c->out);
    gr_put_html(c->out, of(c, "figures"));
    fputs("</p>\n</article>\n", c->out);
}

/* Shows the kernels that take a large share of the kernels' time; the table below lists all
 * kernels. */
bool gr_view_kernels(FILE *out, const struct gr_view *v)
{
    size_t cards = 0;
    double all = 0;
    for (size_t row = 0; row < v->analysis.rows; row++)
        if ((long)gr_view_number(&v->analysis, row, "images") == v->images)
            all += gr_view_number(&v->analysis, row, "total_ns");
    for (size_t row = 0; row < v->analysis.rows && cards < CARDS; row++) {
        const struct card c = {out, v, row};
        if ((long)gr_view_number(&v->analysis, row, "images") != v->images ||
            !(gr_view_number(&v->analysis, row, "total_ns") > LEAST_SHARE * all))
            continue;
        if (!cards++)
            fprintf(out, "<p>%ld images.%s</p>\n<div class=\"kernels\">\n", v->images,
                    v->timeline ? " See also <a href=\"" GR_TIMELINE_PAGE
                                  "\">the timeline of the whole run</a>, in which you can zoom."
                                : "");
        put_card(&c, all);
    }
    fputs(cards ? "</div>\n" : "", out);
    return cards > 0;
}
