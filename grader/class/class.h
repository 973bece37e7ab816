/** @file
 * Grading a class: declarations shared by the stages.
 *
 *     options -> roster -> intake (copies and hashes the submissions) -> tasks (selects what to
 *     grade) -> schedule (runs, repeats, stores) -> summary
 *
 * A task is one milestone of one submission. Its files are beside the gradebook in
 * GRADEBOOK.files/SUBMISSION/MILESTONE/N/, where N is the number of its attempt.
 */
#pragma once

#include "base/sha256.h"
#include "grader/class/class_names.h"
#include "grader/handin/handin.h"
#include "grader/gradebook/gradebook.h"
#include "grader/course/options.h"
#include "grader/sandbox/sandbox.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/** Options that change the checks. The gradebook keeps them. */
enum cl_kept { CL_IMAGES, CL_MODEL, CL_SHAPES, CL_DEVICE, CL_QUICK, CL_KEPT };
enum { CL_FLAG_CHARS = 128 };
typedef char cl_kept_values[CL_KEPT][CL_FLAG_CHARS];

/** The command line. Its strings point into argv. */
struct cl_options {
    bool slurm;       /**< --slurm: grades on a cluster */
    size_t task;      /**< --task N, from 1: only this task of --list, on a node of the cluster */
    const char *list; /**< --list: the list of tasks */
    const char *partition, *slurm_options;
    size_t gpus, array_limit;
    const char *form;      /**< --from: the form of the download; NULL: deduced from the names */
    bool accept_near;      /**< --accept-near: grades a file with another name if it is the only
                                plausible one */
    const char *page;      /**< --page FILE, or NULL */
    const char *deadlines; /**< --deadlines FILE, or NULL */
    double due_s;          /**< --due: seconds since 1970; 0: not given */
    const char *dir, *gradebook, *roster, *only, *shapes, *milestone_list;
    struct gr_options asked; /**< device, images, model; NULL and no sizes if not requested */
    int64_t since;           /**< --since: seconds since 1970, or 0 */
    size_t jobs, retries, timing_cores,
        limit_s; /**< --jobs, or 0; --limit: seconds for each grading */
    uint64_t seed;
    bool seed_given, quick, cpu_times, regrade, no_sandbox;
    size_t milestones;
    struct hi_wanted milestone[HI_MAX_MILESTONES];
    struct gr_rubric *rubrics[HI_MAX_MILESTONES];
    double max_score[HI_MAX_MILESTONES];        /**< automatic points of the rubric */
    char rubric[HI_MAX_MILESTONES][SHA256_HEX]; /**< the rubric's hash */
    char command[1024];                         /**< as typed */
    const char *change;  /**< --change: names of options whose values may differ from the
                              gradebook's */
    cl_kept_values flag; /**< for each option that changes the checks: the option's value, or "" */
    char flags[1024];    /**< all options that change the checks, as text */
};

/** One milestone's file in a submission. */
struct cl_file {
    bool there;
    char *path; /**< path in the folder or archive */
    char hash[SHA256_HEX];
    int64_t bytes, modified;
    char *copy;        /**< the grader's copy; NULL if the file was refused */
    char refused[256]; /**< the reason for refusing it */
    bool unreadable;   /**< this machine cannot read the file: not the submission's fault */
    char missing[512]; /**< the reason for a missing file, with near misses */
    char *report;      /**< the copy of the submission's report, relative to the gradebook's folder,
                            or NULL */
    char *report_name; /**< the student's name for the report */
    int64_t report_bytes;
};

/** The submission of one student or team. */
struct cl_submission {
    char *entry;          /**< name in the class's folder, as bytes; NULL: only in the roster */
    char *key;            /**< name in the platform's download, or NULL */
    struct hi_part *part; /**< the submission's files, folders and archives; strings are owned */
    size_t parts;
    double submitted;   /**< time on the platform's clock, in seconds since 1970, or NAN */
    bool marked_late;   /**< marked as late by the platform */
    const char *source; /**< the platform, or "" */
    char *name;         /**< see cl_name_text() */
    char *raw_name;     /**< the name before it was made printable, or NULL */
    char *team;
    const char *kind; /**< "folder", "archive" or "none" */
    int64_t modified;
    char rejected[512]; /**< the reason why nothing of the submission is graded, or "" */
    bool unreadable;    /**< this machine cannot read the submission: not the submission's fault */
    struct cl_file file[HI_MAX_MILESTONES];
};

/** A class that is being graded. */
struct cl_class {
    const struct cl_options *options;
    struct gradebook *book; /**< NULL with --task */
    int64_t run;            /**< id of this run in the gradebook */
    uint64_t seed;          /**< the seed of the class, from which the tasks' seeds are computed */
    char files[PATH_MAX];   /**< GRADEBOOK.files */
    char version[64];       /**< ConvLab's version */
    struct gr_sandbox sandbox;
    struct gb_roster_list roster;
    const char *form_name; /**< the form of the download, or "" */
    size_t submissions;
    struct cl_submission *submission;
    size_t notices;
    int lock; /**< lock file that excludes a second run */
};

/** Reports a message about a named submission: prints it and stores it. @param name  the
 * submission's, or NULL */
void cl_notice(struct cl_class *class, const char *name, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/** Reads the roster into the gradebook; reports mistakes in the roster as notices. */
enum st_code cl_roster_read(struct cl_class *class, struct st_error *err);

/** Finds the submissions, and copies and hashes the files to grade. Reports and rejects a
 * submission that it cannot read; only faults of the machine are errors. */
enum st_code cl_intake(struct cl_class *class, struct st_error *err);

/** Finds the submissions in the class's folder, whatever its form (download.h). */
enum st_code cl_entries_find(struct cl_class *class, struct st_error *err);

/** @return the submission of this name, or NULL. */
struct cl_submission *cl_submission_find(const struct cl_class *class, const char *name);

/** Adds an empty submission. @return NULL: out of memory. */
struct cl_submission *cl_submission_add(struct cl_class *class, const char *bytes);

/** Keeps a found file: hashes and copies it. */
enum st_code cl_file_keep(struct cl_class *class, struct cl_submission *submission, size_t which,
                          const char *contents, size_t bytes, struct st_error *err);

/** Keeps a milestone's report: copies it. */
enum st_code cl_report_keep(struct cl_class *class, struct cl_submission *submission, size_t which,
                            const struct hi_file *report, struct st_error *err);

/** Whether --only names this submission, or is not given. */
bool cl_is_selected(const struct cl_options *options, const char *name);

/** Frees the submissions that intake found. */
void cl_submissions_free(struct cl_class *class);

/** Computes the seed of one task. */
uint64_t cl_task_seed(uint64_t class_seed, const char *name, const char *milestone);
