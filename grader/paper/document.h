/** @file
 * A student's report.md: the grader's text and the student's, separated by markers. A marker begins
 * in the first column and is alone on its line.
 *
 *     <!-- SECTION m3 -->
 *     any text                                          the student's text from here on
 *     <!-- BEGIN PROSE m3 opportunity -->
 *     the student's words
 *     <!-- END PROSE m3 opportunity -->
 *     <!-- BEGIN GENERATED m3 op-times -->
 *     renewed whenever the report is made again
 *     <!-- END GENERATED m3 op-times 89abcdef -->       a checksum of the generated text
 *
 * Only text within GENERATED is ever replaced. If the checksum no longer matches, the student has
 * changed this text, and it is also kept.
 */
#pragma once

#include "base/status.h"
#include "grader/report/piece.h"

#include <stdio.h>

/** A part of the document. In order, the segments make up the whole document. */
struct pp_segment {
    enum { PP_FREE, PP_PROSE, PP_GENERATED } kind;
    char section[GR_NAME]; /**< PP_FREE: the section that begins here, or "" */
    char name[GR_NAME];    /**< name of the place or block */
    const char *all;       /**< the segment with its markers */
    size_t all_bytes;
    const char *text; /**< the text between the markers */
    size_t bytes;
    size_t line; /**< first line of the segment */
    bool edited; /**< PP_GENERATED: the student has changed the generated text */
};

/** A parsed report. Free it with pp_document_free(). */
struct pp_document {
    char *text;
    size_t bytes;
    size_t segments;
    struct pp_segment *segment;
};

/** Parses a document. @param text  malloc'd; the document owns it, even after an error.
 * @param name  the file's name, for messages @return ST_BAD_FORMAT with file and line if markers
 * are damaged, nested or repeated. */
enum st_code pp_document_parse(char *text, size_t bytes, const char *name,
                               struct pp_document *document, struct st_error *err);

/** Reads a file; a missing file gives an empty document. */
enum st_code pp_document_read(const char *path, struct pp_document *document, struct st_error *err);

/** Frees a document's contents; harmless on a zeroed document. */
void pp_document_free(struct pp_document *document);

/** @return the place or block with this name, or NULL. */
const struct pp_segment *pp_document_find(const struct pp_document *document, const char *section,
                                          const char *name);

/** Writes a block with its markers. */
void pp_put_generated(FILE *out, const char *section, const char *name, const char *text,
                      size_t bytes);

/** Writes an empty place for the student's words, with the question as a comment. */
void pp_put_place(FILE *out, const char *section, const char *name, const char *question);

/** Writes the line that begins a section. */
void pp_put_section(FILE *out, const char *section);

/** The kind of a place. */
struct pp_prose {
    bool written;         /**< there is text other than comments and "(write here)" */
    const char *question; /**< the text of the first comment, or NULL */
    size_t question_bytes;
};

struct pp_prose pp_prose_look(const char *text, size_t bytes);
