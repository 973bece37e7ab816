/** @file
 * Parses downloads of platforms; docs/downloads.md describes the forms and their sources.
 *
 *     canvas      leeann_LATE_123_456_conv.cu               files, all in one folder
 *     moodle      Ann Lee_123_assignsubmission_file_/...    a folder, or files with this prefix
 *     gradescope  submission_123/... and submission_metadata.yml
 *     plain       NAME/..., NAME.zip
 */
#pragma once

#include "base/status.h"
#include "grader/standing/people.h"

#include <stdbool.h>
#include <stddef.h>

enum cl_form { CL_PLAIN, CL_CANVAS, CL_MOODLE, CL_GRADESCOPE };

/** The forms' names, in the order of enum cl_form; NULL at the end. */
extern const char *const cl_form_names[];

#define CL_METADATA "submission_metadata.yml"

enum { CL_MAX_PEOPLE = 16 };

/** A parsed entry of the download. */
struct cl_download_entry {
    char key[300];           /**< the same for all files of a submission: "leeann_123" */
    struct sd_person person; /**< the owner of the entry */
    bool late;               /**< marked as late by the platform */
    char file[256];          /**< the student's name for the file; "" for a folder */
};

/** Parses an entry's name. @return false: the name is not a submission's name in this form. */
bool cl_download_parse(enum cl_form form, const char *entry, bool is_folder,
                       struct cl_download_entry *to);

/** Guesses the form of a folder from the names in it. @param folders  for each name, whether it is
 * a folder */
enum cl_form cl_download_guess(const char *const *names, const bool *folders, size_t n);

/** A submission in Gradescope's metadata. */
struct cl_metadata_row {
    char folder[128];
    double submitted; /**< seconds since 1970, or NAN */
    size_t people;
    struct sd_person person[CL_MAX_PEOPLE];
};

/** All submissions in Gradescope's metadata. */
struct cl_metadata {
    size_t n;
    struct cl_metadata_row *row;
};

/** Reads submission_metadata.yml. @return ST_BAD_FORMAT, naming the line; then the list has the
 * submissions before that line. */
enum st_code cl_metadata_read(const char *path, struct cl_metadata *to, struct st_error *err);

/** Frees the list. */
void cl_metadata_free(struct cl_metadata *metadata);
