/** @file
 * What platforms hand an instructor, taken apart; docs/downloads.md has the forms and their sources.
 *
 *     canvas      leeann_LATE_123_456_conv.cu               files, all in one folder
 *     moodle      Ann Lee_123_assignsubmission_file_/...    a folder, or files with that before the name
 *     gradescope  submission_123/... and submission_metadata.yml
 *     plain       NAME/..., NAME.zip
 */
#ifndef CONVLAB_GRADER_CLASS_DOWNLOAD_H
#define CONVLAB_GRADER_CLASS_DOWNLOAD_H

#include "base/status.h"
#include "grader/gradebook/gradebook.h"

#include <stdbool.h>
#include <stddef.h>

enum cl_form { CL_PLAIN, CL_CANVAS, CL_MOODLE, CL_GRADESCOPE };

/** The forms' names, in the order of enum cl_form; NULL at the end. */
extern const char *const cl_form_names[];

#define CL_METADATA "submission_metadata.yml"

enum { CL_MAX_PEOPLE = 16 };

/** Somebody as a platform calls them; "" what it does not say. */
struct cl_person {
    char name[256], email[256], id[64], sis_id[64];
};

/** An entry of the download, taken apart. */
struct cl_download_entry {
    char key[300];           /**< the same for all files of a submission: "leeann_123" */
    struct cl_person person; /**< whose */
    bool late;               /**< the platform says so */
    char file[256];          /**< the student's own name of the file; "" of a folder */
};

/** Takes an entry's name apart. @return false: it is no submission's in this form. */
bool cl_download_parse(enum cl_form form, const char *entry, bool is_folder,
                       struct cl_download_entry *to);

/** What form a folder has, by the names in it. @param folders  for each name, whether it is a folder */
enum cl_form cl_download_guess(const char *const *names, const bool *folders, size_t n);

/** A submission in Gradescope's metadata. */
struct cl_metadata_row {
    char folder[128];
    double submitted; /**< seconds since 1970, or NAN */
    size_t people;
    struct cl_person person[CL_MAX_PEOPLE];
};

/** All of them. */
struct cl_metadata {
    size_t n;
    struct cl_metadata_row *row;
};

/** Reads submission_metadata.yml. @return ST_BAD_FORMAT with the line; what was read before it is there. */
enum st_code cl_metadata_read(const char *path, struct cl_metadata *to, struct st_error *err);

/** Releases it. */
void cl_metadata_free(struct cl_metadata *metadata);

/** Finds a person in the roster: by their number, else e-mail address, else name (in any order of
 * its words, without regard to case, blanks and punctuation).
 * @param[out] odd  "" or what does not agree
 * @return the row, or NULL: nobody, or more than one */
const struct gb_roster *cl_roster_find(const struct gb_roster_list *roster,
                                       const struct cl_person *person, char *odd, size_t room);

/** The team of this name, compared as people's names are, or NULL. */
const char *cl_roster_team(const struct gb_roster_list *roster, const char *name);

/** Reads a time with its zone: 2026-10-31T23:59+01:00, 2026-10-31 22:59:00.5 UTC, ...Z.
 * @param zone_s  of a time without one, or NAN: then it is refused. @return whether it is one */
bool cl_time_read(const char *text, double zone_s, double *seconds);

#endif
