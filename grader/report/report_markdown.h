/** @file
 * Parses a page's Markdown: GitHub's dialect with tables and strikethrough, but without comments.
 */
#pragma once

#include <cmark-gfm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Parses Markdown. @param links  whether URLs in the text become links, as in a student's text.
 * @param parser  set to the owner of the extensions: free it with cmark_parser_free(), after
 * freeing the document with cmark_node_free(). */
cmark_node *gr_markdown_parse(const char *text, size_t bytes, bool links, cmark_parser **parser);

/** @return the text of a node and its children, without markup, malloc'd; NULL: out of memory. */
char *gr_text_of(cmark_node *node);

/** Writes Markdown as HTML, including pictures of @p folder. */
void gr_html_put_markdown(FILE *out, const char *text, size_t bytes, bool links,
                          const char *folder);

/** Copies HTML and gives each heading a name: s1, s2, ... @param contents  gets a list item for
 * each heading @param tag  of the headings: "h2" @param headings  number of headings named so
 * far */
void gr_html_put_named(FILE *out, FILE *contents, const char *html, const char *tag,
                       size_t *headings);
