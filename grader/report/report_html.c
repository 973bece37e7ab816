/* Makes report.html from grading.md with cmark-gfm.
 *
 * cmark omits raw HTML, pictures are included as data: URLs, and a content security policy forbids
 * everything else, so the page fetches nothing and runs nothing. */
#include "grader/report/report_markdown.h"

#include "base/files.h"
#include "base/page_template.h"
#include "grader/report/report_parts.h"
#include "grader/report/text_out.h"
#include "grader/report/view.h"

#include <cmark-gfm-core-extensions.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PICTURE_BYTES = 4 << 20 };

extern const char page_html[];

static void put_title(FILE *out, const void *title)
{
    gr_put_html(out, title);
}

void gr_html_begin(FILE *out, const char *title, const char *style)
{
    page_write(out, page_html,
               (struct page_part[]){{"title", .put = put_title}, {"style", .text = style}, {0}},
               title);
}

void gr_html_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}

bool gr_html_put_picture(FILE *out, const char *folder, const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {{".svg", "svg+xml"}, {".png", "png"}, {".jpg", "jpeg"}, {".jpeg", "jpeg"}};
    const char *suffix = strrchr(name, '.'), *type = NULL;
    for (size_t i = 0; suffix && i < sizeof types / sizeof *types; i++)
        if (strcmp(suffix, types[i].suffix) == 0)
            type = types[i].type;
    char path[PATH_MAX], *data;
    size_t bytes;
    /* A page is given to others: it must not contain files from elsewhere. */
    if (!type || name[0] == '/' || strstr(name, "..") ||
        !path_format(path, sizeof path, "%s/%s", folder, name) ||
        file_read(path, MAX_PICTURE_BYTES, &data, &bytes, NULL))
        return false;
    fprintf(out, "data:image/%s;base64,", type);
    gr_put_base64(out, data, bytes);
    free(data);
    return true;
}

static void put_text_of(FILE *out, cmark_node *node)
{
    const char *literal = cmark_node_get_literal(node);
    fputs(literal ? literal : "", out);
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child))
        put_text_of(out, child);
}

char *gr_text_of(cmark_node *node)
{
    struct text_out t;
    if (!text_out_open(&t))
        return NULL;
    put_text_of(t.out, node);
    return text_out_close(&t);
}

static void put_picture(FILE *out, cmark_node *image, const char *folder)
{
    struct text_out address;
    if (!text_out_open(&address))
        return;
    if (gr_html_put_picture(address.out, folder, cmark_node_get_url(image)) &&
        text_out_close(&address)) {
        char *alternative = gr_text_of(image);
        fprintf(out, "<img class=\"plot\" src=\"%s\" alt=\"", address.text);
        gr_put_html(out, alternative ? alternative : "");
        fputs("\">", out);
        free(alternative);
    } else {
        fputs("<span class=\"missing\">[picture not shown: ", out);
        gr_put_html(out, cmark_node_get_url(image));
        fputs("]</span>", out);
    }
    text_out_free(&address);
}

/* Replaces every picture by our own HTML; cmark would write a URL to fetch. */
static void put_pictures_inside(cmark_node *document, const char *folder)
{
    cmark_iter *iter = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(iter);
        if (event != CMARK_EVENT_EXIT || cmark_node_get_type(node) != CMARK_NODE_IMAGE)
            continue;
        cmark_node *custom = cmark_node_new(CMARK_NODE_CUSTOM_INLINE);
        struct text_out html;
        if (text_out_open(&html))
            put_picture(html.out, node, folder);
        cmark_node_set_on_enter(custom, text_out_close(&html) ? html.text : "");
        text_out_free(&html);
        cmark_node_replace(node, custom);
        cmark_node_free(node);
    }
    cmark_iter_free(iter);
}

/* Removes comments, which are only for people who edit the page. */
static void drop_comments(cmark_node *document)
{
    cmark_iter *iter = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(iter);
        const cmark_node_type type = cmark_node_get_type(node);
        if (event != CMARK_EVENT_ENTER ||
            (type != CMARK_NODE_HTML_BLOCK && type != CMARK_NODE_HTML_INLINE) ||
            strncmp(cmark_node_get_literal(node), "<!--", 4) != 0)
            continue;
        cmark_node_unlink(node);
        cmark_node_free(node);
    }
    cmark_iter_free(iter);
}

cmark_node *gr_markdown_parse(const char *text, size_t bytes, bool links, cmark_parser **used)
{
    static const char *const extensions[] = {"table", "strikethrough", "autolink"};
    size_t n = links ? 3 : 2;
    int options = CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8;
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(options);
    for (size_t i = 0; i < n; i++) {
        cmark_syntax_extension *extension = cmark_find_syntax_extension(extensions[i]);
        if (extension)
            cmark_parser_attach_syntax_extension(parser, extension);
    }
    cmark_parser_feed(parser, text, bytes);
    cmark_node *document = cmark_parser_finish(parser);
    drop_comments(document);
    *used = parser;
    return document;
}

void gr_html_put_markdown(FILE *out, const char *text, size_t bytes, bool links, const char *folder)
{
    const int options = CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8;
    cmark_parser *parser;
    cmark_node *document = gr_markdown_parse(text, bytes, links, &parser);
    put_pictures_inside(document, folder);
    char *html = cmark_render_html(document, options, cmark_parser_get_syntax_extensions(parser));
    fputs(html, out);
    free(html);
    cmark_node_free(document);
    cmark_parser_free(parser);
}

void gr_html_put_named(FILE *out, FILE *contents, const char *html, const char *tag,
                       size_t *headings)
{
    char start[16], stop[16];
    snprintf(start, sizeof start, "<%s>", tag);
    snprintf(stop, sizeof stop, "</%s>", tag);
    for (const char *at; (at = strstr(html, start)); html = at) {
        const char *end = strstr(at, stop);
        fwrite(html, 1, (size_t)(at - html), out);
        at += strlen(start);
        fprintf(out, "<%s id=\"s%zu\">", tag, ++*headings);
        if (end)
            fprintf(contents, "<li><a href=\"#s%zu\">%.*s</a></li>\n", *headings, (int)(end - at),
                    at);
    }
    fputs(html, out);
}

/* ---- views ----------------------------------------------------------------------------------- */

/* @return the start of the next line that begins with @p mark, or @p end */
static const char *find_line(const char *from, const char *end, const char *mark)
{
    const size_t length = strlen(mark);
    while (from < end && ((size_t)(end - from) < length || strncmp(from, mark, length) != 0)) {
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        from = newline ? newline + 1 : end;
    }
    return from;
}

static const char *after_line(const char *from, const char *end)
{
    const char *newline = memchr(from, '\n', (size_t)(end - from));
    return newline ? newline + 1 : end;
}

/* The page from its first table or section on, and its table of contents. */
struct body {
    struct text_out html, contents;
    size_t headings;
    const char *folder;
};

/* @param tag  tag of the headings for the table of contents */
static void put_part(struct body *b, const char *text, size_t bytes, const char *tag)
{
    struct text_out part;
    if (!text_out_open(&part))
        return;
    gr_html_put_markdown(part.out, text, bytes, false, b->folder);
    if (text_out_close(&part))
        gr_html_put_named(b->html.out, b->contents.out, part.text, tag, &b->headings);
    text_out_free(&part);
}

/* Writes a view and its section: heading, view, and the section's text, folded. @return the
 * position after the section */
static const char *put_view(struct body *b, const char *mark, const char *end)
{
    char name[32] = "";
    FILE *out = b->html.out;
    const char *heading = find_line(mark, end, "#"), *text = after_line(heading, end),
               *next = find_line(text, end, "#"), *view = find_line(text, end, GR_VIEW_MARK);
    next = view < next ? view : next;
    sscanf(mark + sizeof GR_VIEW_MARK - 1, "%31[a-z-]", name);
    put_part(b, heading, (size_t)(text - heading), "h3");
    const bool shown = gr_view_put(out, name, b->folder);
    fputs(shown ? "<details class=\"folded\"><summary>These values as a table</summary>\n" : "",
          out);
    gr_html_put_markdown(out, text, (size_t)(next - text), false, b->folder);
    fputs(shown ? "</details>\n" : "", out);
    return next;
}

void gr_html_write(FILE *out, const char *title, const char *page, size_t bytes, const char *folder)
{
    static const char *const first[] = {"|", "## ", GR_VIEW_MARK};
    const char *const end = page + bytes, *start = end;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        start = find_line(page, start, first[i]);
    struct body b = {.folder = folder};
    const bool open = text_out_open(&b.html), listed = text_out_open(&b.contents);
    for (const char *at = start; open && listed && at < end;) {
        const char *mark = find_line(at, end, GR_VIEW_MARK);
        put_part(&b, at, (size_t)(mark - at), "h2");
        at = mark < end ? put_view(&b, mark, end) : end;
    }
    gr_html_begin(out, title, page_css);
    gr_html_put_markdown(out, page, (size_t)(start - page), false, folder);
    if (open && listed && text_out_close(&b.html) && text_out_close(&b.contents)) {
        if (b.headings > 1)
            fprintf(out, "<nav class=\"jump\" aria-label=\"Contents\"><ul>\n%s</ul></nav>\n",
                    b.contents.text);
        fputs(b.html.text, out);
    }
    text_out_free(&b.html);
    text_out_free(&b.contents);
    gr_html_end(out);
}
