/** @file
 * Exports autograders for grading platforms: one complete upload per milestone, made from the
 * students' archive (make handout) and the scripts in platform/.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** The milestone and options of an autograder. */
struct gx_autograder {
    const char *milestone; /**< "m1"; for GitHub and PrairieLearn, a list: "m1,m3" */
    const char *options;   /**< further options of the grader, in shell syntax, or "" */
    const char *handout;   /**< the students' archive; NULL: build/convlab-handout.tar.gz */
    const char
        *url; /**< GitHub: the URL from which the workflow fetches the archive; NULL: from .convlab/
                   of the repository */
    const char *image; /**< PrairieLearn: the image's name, or NULL */
};

/** Writes the zip file for Gradescope: setup.sh, run_autograder and the files they need. */
enum st_code gx_gradescope_autograder(const struct gx_autograder *of, const char *path,
                                      struct st_error *err);

/** Writes autograde.tar and autograde-Makefile into a folder. */
enum st_code gx_autolab_autograder(const struct gx_autograder *of, const char *folder,
                                   struct st_error *err);

/** Writes only the workflow. The milestones of @p of must be valid. */
enum st_code gx_actions_workflow(const struct gx_autograder *of, const char *path,
                                 struct st_error *err);

/** Writes .github/workflows/convlab.yml and the scripts in .convlab/ into a folder, which is the
 * repository. Without a URL, also writes .convlab/convlab-handout.tar.gz. */
enum st_code gx_github_actions(const struct gx_autograder *of, const char *folder,
                               struct st_error *err);

/** Writes autograder.py and the files it needs into a folder, for the organisation's configuration
 * repository of Classroom 50. */
enum st_code gx_classroom50_autograder(const struct gx_autograder *of, const char *folder,
                                       struct st_error *err);

/** Writes info.json and question.html of one milestone into a folder, which must exist. */
enum st_code gx_prairielearn_question(const struct gx_autograder *of, const char *folder,
                                      struct st_error *err);

/** Writes image/, from which docker builds the external grader, and a question for each
 * milestone. */
enum st_code gx_prairielearn_autograder(const struct gx_autograder *of, const char *folder,
                                        struct st_error *err);
