/** @file
 * Parses a page's Markdown: GitHub's, with tables and strikethrough, without comments.
 */
#pragma once

#include <cmark-gfm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Parses a stretch of Markdown. @param links  addresses in the text become links, for a student's
 * text. @param parser  the extensions' owner: free it with cmark_parser_free(), after the document
 * with cmark_node_free(). */
cmark_node *gr_markdown_parse(const char *text, size_t bytes, bool links, cmark_parser **parser);

/** @return the text at and below a node, without markup, malloc'd, or NULL without memory. */
char *gr_text_of(cmark_node *node);

/** Writes a stretch of Markdown as HTML, including pictures of @p folder. */
void gr_html_put_markdown(FILE *out, const char *text, size_t bytes, bool links,
                          const char *folder);

/** Copies HTML and gives each heading a name: s1, s2, ... @param contents  gets a list item for
 * each @param tag  of the headings: "h2" @param headings  number of named headings */
void gr_html_put_named(FILE *out, FILE *contents, const char *html, const char *tag,
                       size_t *headings);
