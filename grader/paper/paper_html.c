/* report.html: every segment is rendered separately, so that a student's text (for example an open
 * code fence) cannot swallow the grader's. Second-level headings form the table of contents.
 */
#include "grader/paper/render.h"

#include "grader/report/report_markdown.h"
#include "grader/report/report_parts.h"
#include "grader/report/text_out.h"

#include <stdlib.h>
#include <string.h>

/* The text of the first heading, or "Report"; malloc'd; NULL: out of memory. */
static char *title_of(const struct pp_document *document)
{
    char *title = NULL;
    for (size_t i = 0; i < document->segments && !title; i++) {
        const struct pp_segment *s = &document->segment[i];
        cmark_parser *parser;
        cmark_node *root = gr_markdown_parse(s->text, s->bytes, false, &parser);
        for (cmark_node *n = cmark_node_first_child(root); n && !title; n = cmark_node_next(n))
            if (cmark_node_get_type(n) == CMARK_NODE_HEADING &&
                cmark_node_get_heading_level(n) == 1)
                title = gr_text_of(n);
        cmark_node_free(root);
        cmark_parser_free(parser);
    }
    if (!title)
        return strdup("Report");
    return title;
}

static void put_markdown(FILE *out, FILE *contents, const struct pp_segment *s, const char *folder,
                         size_t *headings)
{
    struct text_out html;
    if (!text_out_open(&html))
        return;
    gr_html_put_markdown(html.out, s->text, s->bytes, s->kind != PP_GENERATED, folder);
    if (text_out_close(&html))
        gr_html_put_named(out, contents, html.text, "h2", headings);
    text_out_free(&html);
}

static void put_unwritten(FILE *out, const struct pp_prose *prose)
{
    fputs("<p class=\"unwritten\">To be written", out);
    if (prose->question) {
        char *question = strndup(prose->question, prose->question_bytes);
        fputs(": ", out);
        gr_put_html(out, question ? question + strspn(question, " \n") : "");
        free(question);
    }
    fputs("</p>\n", out);
}

static void put_segment(FILE *out, FILE *contents, const struct pp_segment *s, const char *folder,
                        size_t *headings)
{
    if (s->kind != PP_PROSE) {
        put_markdown(out, contents, s, folder, headings);
        return;
    }
    const struct pp_prose prose = pp_prose_look(s->text, s->bytes);
    fprintf(out, "<section class=\"prose%s\">\n", prose.written ? " written" : "");
    if (prose.written)
        put_markdown(out, contents, s, folder, headings);
    else
        put_unwritten(out, &prose);
    fputs("</section>\n", out);
}

/* Writes the table of contents after the front. */
static void put_contents(FILE *out, const char *body, const char *list, size_t headings)
{
    if (!body || !list)
        return;
    const char *at = strstr(body, "<h2 id=\"s1\">");
    const size_t front = at && headings > 1 ? (size_t)(at - body) : 0;
    fwrite(body, 1, front, out);
    if (headings > 1)
        fprintf(out, "<nav class=\"contents\">\n<ol>\n%s</ol>\n</nav>\n", list);
    fputs(body + front, out);
}

void pp_html_write(FILE *out, const struct pp_document *document, const char *folder)
{
    struct text_out body, list;
    char *title = title_of(document);
    size_t headings = 0;
    gr_html_begin(out, title ? title : "Report", page_css);
    const bool room = text_out_open(&body);
    if (text_out_open(&list) && room) {
        for (size_t i = 0; i < document->segments; i++)
            put_segment(body.out, list.out, &document->segment[i], folder, &headings);
        put_contents(out, text_out_close(&body), text_out_close(&list), headings);
    }
    gr_html_end(out);
    text_out_free(&body);
    text_out_free(&list);
    free(title);
}
