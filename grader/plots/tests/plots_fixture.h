/** @file
 * Copies of the reports in data/, and the plots that are drawn from reports.
 */
#pragma once

#include "grader/plots/plot_parts.h"

#include <stdbool.h>

/** The path of a file beside the tests; valid until four more calls. */
const char *in_tests(const char *name);

/** Runs a command, made from a format with two strings; fails the test if the command fails. */
void shell(const char *format, const char *a, const char *b);

/** Copies the reports in data/. @return the folder of m5, which has all tables. */
const char *copy_of_data(void);

/** Draws the plots of a folder, or fails the test. Free with free(). */
struct gr_plots *draw(const char *folder);

/** The text of FOLDER/plots/NAME, malloc'd. */
char *picture(const char *folder, const char *name);

/** Whether tags are closed in order, attributes are quoted and no '&' or '<' is unescaped. */
bool is_well_formed(const char *xml);
