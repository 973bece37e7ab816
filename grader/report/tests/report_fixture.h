/** @file
 * Records from which tests make reports, and folders for these reports.
 */
#pragma once

#include "grader/report/report_parts.h"
#include "grader/record/result_json.h"

#include <stdbool.h>
#include <stddef.h>

/** A string that tries to break out of every format. */
extern const char hostile[];

/** The result of a grading of m1 that passed every check, with baselines, for two-layer at 100,
 * 1000 and 10000 images. Free with free(). */
struct gr_result *sample_result(void);

/** As sample_result(), with every string replaced by the hostile one, and a failed check. */
struct gr_result *hostile_result(void);

/** As sample_result(), with @p text as the evidence of a technique, and the times of m2. */
struct gr_result *gpu_result(const char *text);

/** Adds Op Times of one convolution of two-layer. */
void add_timing(struct gr_result *result, enum gr_subject subject, int layer, int images,
                double seconds);

/** Make and remove a folder for each test: a suite's .init and .fini. */
void folder_make(void);
void folder_remove(void);

/** FOLDER/NAME, valid until eight more calls. */
const char *in_folder(const char *name);

/** Makes a PATH without gnuplot, for tests that are not about plots. */
void without_gnuplot(void);

/** The files of a report, and how many entries its folder has: the plots count as one. */
enum { ALL_FILES = 17, FOLDER_ENTRIES = 10 };
extern const char *const all_files[ALL_FILES];

/** Writes a report to FOLDER/NAME, or fails the test. */
void write_report(const struct gr_result *r, const char *name);

/** Reads a whole file of the folder into malloc'd memory; fails the test if it cannot be read. */
char *read_text(const char *name);

/** Replaces a file of the folder. */
void write_text(const char *name, const char *text);

/** How often @p part occurs in @p text. */
size_t count(const char *text, const char *part);

/** @return a malloc'd copy of @p text with the first @p from replaced by @p to; fails the test if
 * there is none. */
char *replaced(const char *text, const char *from, const char *to);

/** The number of entries in the folder. */
size_t folder_entries(void);

/** Whether all bytes form valid UTF-8; written independently of the code under test. */
bool is_utf8(const char *text);
