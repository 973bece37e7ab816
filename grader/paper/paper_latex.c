/* report.tex: a complete article that compiles with the packages of a plain TeX Live. The Markdown
 * is walked node by node; every text is written by latex_text.c, so that a student's text cannot
 * run a command, whatever it contains.
 *
 * pandoc and cmark's own LaTeX writer do not suffice: with both, wide tables extend beyond the page
 * and lose their captions, and TeX stops at the first character that its fonts lack. */
#include "grader/paper/render.h"

#include "base/files.h"
#include "grader/paper/latex_text.h"
#include "grader/report/report_markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char preamble_tex[]; /* the text of preamble.tex */

enum { COLUMNS = 24, PAGE_CHARS = 100, NARROW = 16, DEPTH = 4 };

struct walk {
    struct tex_out tex;
    const char *folder;
    int depth; /* nesting of lists and quotations, of which LaTeX allows four */
};

static void put_node(struct walk *w, cmark_node *node);

static void put_children(struct walk *w, cmark_node *node)
{
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child))
        put_node(w, child);
}

static void put_between(struct walk *w, const char *before, cmark_node *node, const char *after)
{
    fputs(before, w->tex.out);
    put_children(w, node);
    fputs(after, w->tex.out);
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool is_type(cmark_node *node, const char *name)
{
    return strcmp(cmark_node_get_type_string(node), name) == 0;
}

/* The number of characters of a text, and the length of its longest word. */
struct extent {
    size_t all, word;
};

static struct extent extent_of(cmark_node *node)
{
    struct extent extent = {0};
    size_t word = 0;
    char *text = gr_text_of(node);
    for (const char *at = text ? text : ""; *at; at++) {
        const bool begins = (*at & 0xc0) != 0x80;
        word = *at == ' ' ? 0 : word + begins;
        extent.all += begins;
        extent.word = word > extent.word ? word : extent.word;
    }
    free(text);
    return extent;
}

/* The layout of a table: columns are as wide as their longest cell if all columns fit; otherwise,
 * wide columns share the remaining width. Headings may be broken at blanks. */
struct layout {
    size_t columns, natural[COLUMNS]; /* natural: widths in characters */
    const uint8_t *align;
    double wide[COLUMNS]; /* share of the line's width; 0: natural width */
    bool small;
};

/* Measures the columns. @return the width of a line in characters. @param stacked  whether headings
 * may be broken */
static size_t measure(struct layout *l, cmark_node *table, bool stacked)
{
    size_t all = 2 * l->columns;
    memset(l->natural, 0, sizeof l->natural);
    for (cmark_node *row = cmark_node_first_child(table); row; row = cmark_node_next(row)) {
        size_t c = 0;
        for (cmark_node *cell = cmark_node_first_child(row); cell && c < l->columns;
             cell = cmark_node_next(cell), c++) {
            const bool words = stacked && is_type(row, "table_header");
            const struct extent extent = extent_of(cell);
            const size_t n = words ? extent.word : extent.all;
            l->natural[c] = n > l->natural[c] ? n : l->natural[c];
        }
    }
    for (size_t c = 0; c < l->columns; c++)
        all += l->natural[c];
    return all;
}

static struct layout lay_out(cmark_node *table)
{
    struct layout l = {.columns = cmark_gfm_extensions_get_table_columns(table),
                       .align = cmark_gfm_extensions_get_table_alignments(table)};
    if (!l.columns || l.columns > COLUMNS || measure(&l, table, false) <= PAGE_CHARS ||
        measure(&l, table, true) <= PAGE_CHARS)
        return l;
    size_t narrow = 2 * l.columns;
    double wide = 0; /* the square root, so that a long text does not squeeze a short one */
    for (size_t c = 0; c < l.columns; c++) {
        if (l.natural[c] <= NARROW)
            narrow += l.natural[c];
        else
            wide += sqrt((double)l.natural[c]);
    }
    l.small = narrow + 24 > PAGE_CHARS;
    const size_t room = l.small ? PAGE_CHARS * 9 / 8 : PAGE_CHARS;
    const double left = narrow + 16 < room ? (double)(room - narrow) : 16;
    for (size_t c = 0; c < l.columns; c++)
        if (l.natural[c] > NARROW)
            l.wide[c] = 0.94 * left * sqrt((double)l.natural[c]) / wide / (double)room;
    return l;
}

static void put_columns(struct walk *w, const struct layout *l)
{
    fputs("@{}", w->tex.out);
    for (size_t c = 0; c < l->columns; c++) {
        if (l->wide[c] > 0)
            fprintf(w->tex.out, ">{\\ragged%s\\arraybackslash}p{%.3f\\linewidth}",
                    l->align[c] == 'r' ? "left" : "right", l->wide[c]);
        else
            fputc(l->align[c] == 'r' ? 'r' : l->align[c] == 'c' ? 'c' : 'l', w->tex.out);
    }
    fputs("@{}", w->tex.out);
}

/* Writes a heading that is longer than its column with one word per line. */
static void put_stacked(struct walk *w, cmark_node *cell, char align)
{
    char *text = gr_text_of(cell);
    if (!text)
        return;
    fprintf(w->tex.out, "\\begin{tabular}[b]{@{}%c@{}}", align);
    for (char *at = strtok(text, " \n"); at; at = strtok(NULL, " \n")) {
        if (at != text)
            fputs("\\\\", w->tex.out);
        tex_put_text(&w->tex, at);
    }
    fputs("\\end{tabular}", w->tex.out);
    free(text);
}

static void put_row(struct walk *w, cmark_node *row, const struct layout *l)
{
    size_t c = 0;
    const bool head = is_type(row, "table_header");
    for (cmark_node *cell = cmark_node_first_child(row); cell && c < l->columns;
         cell = cmark_node_next(cell), c++) {
        if (c)
            fputs(" & ", w->tex.out);
        if (head && l->wide[c] <= 0 && extent_of(cell).all > l->natural[c])
            put_stacked(w, cell, l->align[c] == 'r' ? 'r' : l->align[c] == 'c' ? 'c' : 'l');
        else
            put_children(w, cell);
    }
    fputs(" \\\\\n", w->tex.out);
}

static void put_table(struct walk *w, cmark_node *table)
{
    const struct layout l = lay_out(table);
    if (!l.columns || l.columns > COLUMNS)
        return;
    fprintf(w->tex.out, "\n{%s\\begin{longtable}{", l.small ? "\\scriptsize" : "\\footnotesize");
    put_columns(w, &l);
    fputs("}\n\\toprule\n", w->tex.out);
    for (cmark_node *row = cmark_node_first_child(table); row; row = cmark_node_next(row)) {
        const bool head = is_type(row, "table_header");
        if (head && !extent_of(row).all)
            continue;
        put_row(w, row, &l);
        if (head)
            fputs("\\midrule\n\\endhead\n", w->tex.out);
    }
    fputs("\\bottomrule\n\\end{longtable}}\n", w->tex.out);
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* Finds a file that LaTeX can include: for an SVG, the PDF or PNG of the same name. Accepts only
 * names of letters, digits and "-_./" in the folder. */
static bool find_picture(const struct walk *w, const char *address, char to[PATH_MAX])
{
    static const char *const suffixes[] = {".pdf", ".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(address, '.');
    char path[PATH_MAX];
    if (!dot || address[0] == '/' || strstr(address, "..") ||
        address[strspn(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./")])
        return false;
    const bool svg = strcmp(dot, ".svg") == 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if ((svg || strcmp(dot, suffixes[i]) == 0) &&
            path_format(to, PATH_MAX, "%.*s%s", (int)(dot - address), address, suffixes[i]) &&
            path_format(path, sizeof path, "%s/%s", w->folder, to) && file_exists(path))
            return true;
    return false;
}

static void put_picture(struct walk *w, cmark_node *node)
{
    char path[PATH_MAX];
    const char *address = cmark_node_get_url(node);
    if (find_picture(w, address, path)) {
        fprintf(w->tex.out,
                "\\begin{center}\n\\includegraphics[width=.82\\linewidth,height=.42\\textheight,"
                "keepaspectratio]{%s}\n\\end{center}\n",
                path);
        return;
    }
    fputs("\\textit{[picture not shown: ", w->tex.out);
    tex_put_text(&w->tex, address);
    fputs("]}", w->tex.out);
}

/* ---- other elements ------------------------------------------------------------------------- */

static void put_heading(struct walk *w, cmark_node *node)
{
    /* (reserves more space than a caption does, so that a heading and the caption below it stay on
     * one page) */
    static const char *const open[] = {
        "\n\\need{12\\baselineskip}\\section{", "\n\\need{11\\baselineskip}\\subsection{",
        "\n\\need{10\\baselineskip}\\subsubsection{", "\n\\paragraph{"};
    const int level = cmark_node_get_heading_level(node);
    if (level == 1)
        put_between(w, "\n\\begin{center}\\LARGE\\bfseries ", node, "\\end{center}\n");
    else
        put_between(w, open[level > 5 ? 3 : level - 2], node, "}\n");
}

/* Writes a paragraph. A caption stays with its table. */
static void put_paragraph(struct walk *w, cmark_node *node)
{
    cmark_node *next = cmark_node_next(node);
    const bool caption =
        next && (is_type(next, "table") || cmark_node_get_type(next) == CMARK_NODE_CODE_BLOCK);
    put_between(w, caption ? "\n\\need{7\\baselineskip}\n" : "\n", node,
                caption ? "\\par\\nopagebreak\n" : "\n\n");
}

static void put_environment(struct walk *w, const char *name, cmark_node *node)
{
    const bool fits = w->depth < DEPTH;
    w->depth++;
    if (fits)
        fprintf(w->tex.out, "\n\\begin{%s}\n", name);
    put_children(w, node);
    if (fits)
        fprintf(w->tex.out, "\\end{%s}\n", name);
    w->depth--;
}

static void put_item(struct walk *w, cmark_node *node)
{
    put_between(w, w->depth <= DEPTH ? "\\item{} " : "\n\n", node, "\n");
}

static void put_link(struct walk *w, cmark_node *node)
{
    const bool link = tex_begin_link(&w->tex, cmark_node_get_url(node));
    put_children(w, node);
    if (link)
        fputc('}', w->tex.out);
}

/* Writes a line break, except after a picture, where there is no line to end. */
static void put_line_break(struct walk *w, cmark_node *node)
{
    cmark_node *before = cmark_node_previous(node);
    const bool picture = before && cmark_node_get_type(before) == CMARK_NODE_IMAGE;
    fputs(!before || !cmark_node_next(node) || picture ? "\n" : "\\newline\n", w->tex.out);
}

static void put_node(struct walk *w, cmark_node *node)
{
    const cmark_node_type type = cmark_node_get_type(node);
    FILE *out = w->tex.out;
    if (type == CMARK_NODE_DOCUMENT)
        put_children(w, node);
    else if (type == CMARK_NODE_HEADING)
        put_heading(w, node);
    else if (type == CMARK_NODE_PARAGRAPH)
        put_paragraph(w, node);
    else if (type == CMARK_NODE_TEXT)
        tex_put_text(&w->tex, cmark_node_get_literal(node));
    else if (type == CMARK_NODE_CODE)
        tex_put_code(&w->tex, cmark_node_get_literal(node));
    else if (type == CMARK_NODE_CODE_BLOCK)
        tex_put_lines(&w->tex, cmark_node_get_literal(node));
    else if (type == CMARK_NODE_EMPH)
        put_between(w, "\\emph{", node, "}");
    else if (type == CMARK_NODE_STRONG)
        put_between(w, "\\textbf{", node, "}");
    else if (type == CMARK_NODE_LIST)
        put_environment(
            w, cmark_node_get_list_type(node) == CMARK_ORDERED_LIST ? "enumerate" : "itemize",
            node);
    else if (type == CMARK_NODE_ITEM)
        put_item(w, node);
    else if (type == CMARK_NODE_BLOCK_QUOTE)
        put_environment(w, "quote", node);
    else if (type == CMARK_NODE_THEMATIC_BREAK)
        fputs("\n\\medskip\\hrule\\medskip\n", out);
    else if (type == CMARK_NODE_LINK)
        put_link(w, node);
    else if (type == CMARK_NODE_IMAGE)
        put_picture(w, node);
    else if (type == CMARK_NODE_SOFTBREAK)
        fputc('\n', out);
    else if (type == CMARK_NODE_LINEBREAK)
        put_line_break(w, node);
    else if (is_type(node, "table"))
        put_table(w, node);
    else if (type != CMARK_NODE_HTML_BLOCK && type != CMARK_NODE_HTML_INLINE)
        put_children(w, node);
}

static void put_text(struct walk *w, const char *text, size_t bytes, bool links)
{
    cmark_parser *parser;
    cmark_node *root = gr_markdown_parse(text, bytes, links, &parser);
    put_node(w, root);
    cmark_node_free(root);
    cmark_parser_free(parser);
}

static void put_unwritten(struct walk *w, const struct pp_prose *prose)
{
    char *question = prose->question ? strndup(prose->question, prose->question_bytes) : NULL;
    fputs("\n\\textit{To be written", w->tex.out);
    if (question) {
        fputs(": ", w->tex.out);
        tex_put_text(&w->tex, question + strspn(question, " \n"));
    }
    fputs("}\n\n", w->tex.out);
    free(question);
}

size_t pp_latex_write(FILE *out, const struct pp_document *document, const char *folder)
{
    struct walk w = {.tex = {.out = out}, .folder = folder};
    bool contents = false;
    fputs(preamble_tex, out);
    for (size_t i = 0; i < document->segments; i++) {
        const struct pp_segment *s = &document->segment[i];
        const struct pp_prose prose = pp_prose_look(s->text, s->bytes);
        if (!contents && s->kind == PP_FREE && s->section[0] && strcmp(s->section, "front") != 0) {
            fputs("\n\\setcounter{tocdepth}{1}\\tableofcontents\n", out);
            contents = true;
        }
        if (s->kind == PP_PROSE && !prose.written)
            put_unwritten(&w, &prose);
        else
            put_text(&w, s->text, s->bytes, s->kind != PP_GENERATED);
    }
    fputs("\\end{document}\n", out);
    return w.tex.lost;
}
