/* The board as one HTML page: style and script are in it, and the policy in its head lets it load
 * nothing.
 *
 * Each heading is a button: a click, or Enter and Space on it, sorts by its column, once more the
 * other way round. board.html#sort=m1_ms or #sort=-m1_ms shows it sorted. */
#include "grader/rank/board.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

static const char style[] =
    ":root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a;\n"
    "  --rule: #d0d7de; --wash: #f6f8fa; --accent: #08519c; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3;\n"
    "  --soft: #9198a1; --rule: #3d444d; --wash: #161b22; --accent: #79c0ff; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; background: var(--paper); color: var(--ink);\n"
    "  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; }\n"
    "main { max-width: 62rem; margin: 0 auto; padding: 1.25rem .75rem 3rem; }\n"
    "h1 { font-size: 1.5rem; margin: 0 0 .5rem; }\n"
    "p { margin: .5rem 0; color: var(--soft); }\n"
    /* A wide board scrolls by itself, the page does not. */
    ".scroll { overflow-x: auto; margin: 1rem 0; }\n"
    "table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .4rem .5rem; text-align: right; border-bottom: 1px solid var(--rule); }\n"
    "th { padding: 0; vertical-align: bottom; border-bottom: 2px solid var(--ink); }\n"
    "th.name, td.name { text-align: left; overflow-wrap: anywhere; min-width: 7rem; max-width: "
    "20rem; }\n"
    "td.name { font-weight: 600; }\n"
    "tbody tr:nth-child(odd) { background: var(--wash); }\n"
    "th button { all: unset; display: block; width: 100%; padding: .4rem .5rem; cursor: pointer;\n"
    "  box-sizing: border-box; line-height: 1.25; }\n"
    "th small { display: block; font-weight: 400; color: var(--soft); }\n"
    "th button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }\n"
    "th[aria-sort] button { color: var(--accent); }\n"
    "th[aria-sort=ascending] button::after { content: ' \\25b2'; }\n"
    "th[aria-sort=descending] button::after { content: ' \\25bc'; }\n"
    "@media (max-width: 30rem) { body { font-size: .9rem; } th button, td { padding: .35rem .3rem; "
    "}\n"
    "  th.name, td.name { min-width: 6rem; } }\n"
    "@media print { th button::after { content: '' !important; } }\n";

/* Rows without a value are last, whichever way the others go. */
static const char script[] =
    "'use strict';\n"
    "(() => {\n"
    "  const table = document.querySelector('table'), body = table.tBodies[0];\n"
    "  const heads = [...table.tHead.rows[0].cells];\n"
    "  const order = new Intl.Collator(undefined, {numeric: true});\n"
    "  const key = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;\n"
    "  function sort(at, down) {\n"
    "    const text = heads[at].dataset.kind === 'text';\n"
    "    const rows = [...body.rows];\n"
    "    rows.sort((a, b) => {\n"
    "      const x = key(a, at), y = key(b, at);\n"
    "      if (!x || !y) return (x ? 0 : 1) - (y ? 0 : 1);\n"
    "      const way = text ? order.compare(x, y) : x - y;\n"
    "      return down ? -way : way;\n"
    "    });\n"
    "    body.append(...rows);\n"
    "    for (const head of heads) head.removeAttribute('aria-sort');\n"
    "    heads[at].setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "  }\n"
    "  heads.forEach((head, at) => head.querySelector('button').addEventListener('click', () => {\n"
    "    const now = head.getAttribute('aria-sort');\n"
    "    sort(at, now ? now === 'ascending' : head.dataset.first === 'descending');\n"
    "  }));\n"
    "  function fromAddress() {\n"
    "    const match = /^#sort=(-?)([a-z0-9_]+)$/.exec(location.hash);\n"
    "    const at = match ? heads.findIndex((head) => head.dataset.column === match[2]) : -1;\n"
    "    if (at >= 0) sort(at, match[1] === '-');\n"
    "  }\n"
    "  addEventListener('hashchange', fromAddress);\n"
    "  fromAddress();\n"
    "})();\n";

/* A heading: all of it is ours. @param kind  "text" or "number"; @param first  the order of the
 * first click */
static void put_head(FILE *out, const char *column, const char *label, const char *below,
                     const char *kind, const char *first)
{
    fprintf(out,
            "<th scope=\"col\"%s data-column=\"%s\" data-kind=\"%s\" data-first=\"%s\"%s>"
            "<button type=\"button\">%s",
            strcmp(kind, "text") == 0 ? " class=\"name\"" : "", column, kind, first,
            strcmp(column, "rank") == 0 ? " aria-sort=\"ascending\"" : "", label);
    if (*below)
        fprintf(out, "<small>%s</small>", below);
    fputs("</button></th>\n", out);
}

static void put_heads(const struct rk_board *board, FILE *out)
{
    put_head(out, "rank", "Rank", "", "number", "ascending");
    put_head(out, "name", "Name", "", "text", "ascending");
    if (board->milestones > 1)
        put_head(out, "points", "Points", "", "number", "descending");
    for (size_t m = 0; m < board->milestones; m++) {
        char column[16], label[32], below[64];
        snprintf(column, sizeof column, "%s_points", board->column[m].id);
        snprintf(label, sizeof label, "%s", board->column[m].id);
        snprintf(below, sizeof below, "of %g", board->column[m].max_score);
        put_head(out, column, label, below, "number", "descending");
        if (!board->column[m].images)
            continue;
        snprintf(column, sizeof column, "%s_ms", board->column[m].id);
        snprintf(label, sizeof label, "%s Op Time", board->column[m].id);
        snprintf(below, sizeof below, "ms, %zu images", board->column[m].images);
        put_head(out, column, label, below, "number", "ascending");
    }
}

static void put_number(FILE *out, double value, int digits)
{
    if (isfinite(value))
        fprintf(out, "<td data-value=\"%.9g\">%.*f</td>", value, digits, value);
    else
        fputs("<td data-value=\"\">&ndash;</td>", out);
}

/* A name is in an element that keeps its direction of writing to itself. */
static void put_row(const struct rk_board *board, const struct rk_row *row, FILE *out)
{
    char label[RK_LABEL_CHARS];
    fprintf(out, "<tr><td data-value=\"%zu\">%zu</td><td class=\"name\"><bdi>", row->rank,
            row->rank);
    gr_put_html(out, rk_row_label(row, label));
    fputs("</bdi></td>", out);
    if (board->milestones > 1)
        put_number(out, row->total, 1);
    for (size_t m = 0; m < board->milestones; m++) {
        double ms = 1e3 * row->cell[m].op_time_s;
        put_number(out, row->cell[m].score, 1);
        if (board->column[m].images)
            put_number(out, ms, ms < 10 ? 3 : ms < 1000 ? 1 : 0);
    }
    fputs("</tr>\n", out);
}

void rk_page_write(const struct rk_board *board, FILE *out)
{
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
            "<title>ConvLab: ranking</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n"
            "<h1>Ranking</h1>\n<p>By points, then by Op Time. Choose a heading to sort by it.</p>\n"
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ranking\">\n"
            "<table>\n<thead><tr>\n",
            style);
    put_heads(board, out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < board->rows; i++)
        put_row(board, &board->row[i], out);
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (board->not_graded)
        fprintf(out, "<p>%zu more: nothing handed in, or not graded yet.</p>\n", board->not_graded);
    fprintf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", script);
}
