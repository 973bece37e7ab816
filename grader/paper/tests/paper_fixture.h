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

/** A suite's .init and .fini: a separate folder. */
void paper_make(void);
void paper_remove(void);
const char *paper_folder(void);

/** FOLDER/NAME, valid until eight more calls. */
const char *in_folder(const char *name);

/** Makes a file of the folder. */
void write_text(const char *name, const char *text);

/** A file of tests/data; valid until the next call. */
const char *data_path(const char *name);

/** Where templates are taken from: tests/data/templates, unless a test has set another folder. */
extern const char *templates_folder;

/** Assembles a report from an old one. @param sections  ends with NULL; empty: those that the old
 * one has. @param notes if not NULL: the messages, to be freed. @return the new text, to be
 * freed. Fails the test on an error. */
struct text assembled(const struct text *old, const char *const *sections, char **notes);

/** The same, giving the error. */
enum st_code assemble(const struct text *old, const char *const *sections, struct text *to,
                      char **notes, struct st_error *err);

/** A report of m3, m4 and final, with a hostile team. */
struct text sample_report(void);

/** A document of a text, which stays the caller's. */
struct pp_document document_of(const struct text *text);

/** Runs a command line. @return its exit status. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
