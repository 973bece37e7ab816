/** @file
 * What a grading platform is given once for each milestone, instead of grades: autograders with all
 * that they need, made of the students' archive (make handout) and the scripts in platform/.
 */
#ifndef CONVLAB_GRADER_EXPORT_AUTOGRADERS_H
#define CONVLAB_GRADER_EXPORT_AUTOGRADERS_H

#include "base/status.h"

#include <stddef.h>

/** What an autograder is made for. */
struct gx_autograder {
    const char *milestone; /**< "m1"; of GitHub's workflow a list: "m1,m3" */
    const char *options;   /**< further options of the grader, as for a shell, or "" */
    const char *handout;   /**< the students' archive; NULL: build/convlab-handout.tar.gz */
    const char
        *url; /**< GitHub: where the workflow fetches it; NULL: .convlab/ of the repository */
};

/** Writes the zip file that is uploaded to Gradescope: setup.sh, run_autograder and what they need.
 */
enum st_code gx_gradescope_autograder(const struct gx_autograder *of, const char *path,
                                      struct st_error *err);

/** Writes autograde.tar and autograde-Makefile into a folder. */
enum st_code gx_autolab_autograder(const struct gx_autograder *of, const char *folder,
                                   struct st_error *err);

/** The workflow alone; the milestones of @p of are right. */
enum st_code gx_github_workflow(const struct gx_autograder *of, const char *path,
                                struct st_error *err);

/** Writes .github/workflows/classroom.yml and .convlab/grade.sh into a folder, the template
 * repository, and without an address to fetch it from also .convlab/convlab-handout.tar.gz. */
enum st_code gx_github_classroom(const struct gx_autograder *of, const char *folder,
                                 struct st_error *err);

#endif
