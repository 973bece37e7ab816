/** @file
 * Pages about mistakes: printed by `grader explain NAME`.
 *
 *     mistakes.md    the pages, which can also be read as a file
 *
 *         # Threads and memory              a part
 *         ## race_war                       a page and its names, "a, b, c"
 *         A thread overwrites ...           the mistake in one sentence; then cause, wrong code,
 *                                           correction
 *
 * A name is a pattern of a failed check or a finding of the virtual GPU. This folder's test checks
 * that each name has a page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EX_NAME_CHARS = 48 };

/** A page of mistakes.md, as pointers into its text. */
struct ex_page {
    const char *names; /**< "race_war", or "nan, inf", to the end of its line */
    const char *text;  /**< the text after the line of names */
    size_t text_chars; /**< number of characters up to the next heading */
    const char *part;  /**< the heading of the page's part, to the end of that line */
};

/** Moves to the next page. @param page  zeroed before the first call. @return false after the last
 * page. */
bool ex_page_next(struct ex_page *page);

/** Copies one of a page's names. @param at  from 0 on. @return false after the last name. */
bool ex_page_name(const struct ex_page *page, size_t at, char name[EX_NAME_CHARS]);

/** Finds the page of a name; NAME_missing and NAME_wrong share the page of NAME. */
bool ex_page_find(const char *name, struct ex_page *page);

/** Copies the known name that is most similar to an unknown name, or "" if no name is similar. */
void ex_name_nearest(const char *name, char nearest[EX_NAME_CHARS]);
