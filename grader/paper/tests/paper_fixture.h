/** @file
 * Reports assembled from the gradings and templates in tests/data.
 */
#pragma once

#include "grader/paper/assemble.h"
#include "grader/paper/sources.h"
#include "grader/paper/render.h"

/** A text and its length. */
struct text {
    char *text;
    size_t bytes;
};

/** A suite's .init and .fini: make and remove a folder for each test. */
void paper_make(void);
void paper_remove(void);
const char *paper_folder(void);

/** FOLDER/NAME, valid until eight more calls. */
const char *in_folder(const char *name);

/** Writes a file in the folder. */
void write_text(const char *name, const char *text);

/** The path of a file in tests/data, valid until the next call. */
const char *data_path(const char *name);

/** The folder of the templates: tests/data/templates, unless a test has set another. */
extern const char *templates_folder;

/** Assembles a report from an old report; fails the test on an error. @param sections  ends with
 * NULL; empty: the sections of the old report. @param notes  if not NULL: set to the messages,
 * which the caller frees. @return the new text, which the caller frees. */
struct text assembled(const struct text *old, const char *const *sections, char **notes);

/** As assembled(), but returns the error. */
enum st_code assemble(const struct text *old, const char *const *sections, struct text *to,
                      char **notes, struct st_error *err);

/** Makes a report of m3, m4 and final, with a team that has a hostile name. */
struct text sample_report(void);

/** Parses a text. The caller still owns the text. */
struct pp_document document_of(const struct text *text);

/** Runs a command line. @return its exit status. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
