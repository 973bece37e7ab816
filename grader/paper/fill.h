/** @file
 * What the grader fills into a student's report. Each kind of directive is a row of fills.def; its
 * text comes from files that gradings have left in build/report:
 *
 *     mN/result.json, mN/profile/ (tables, text), mN/plots/ (pictures)
 *
 * What is not there is no error: the place says which command makes it.
 */
#ifndef CONVLAB_PAPER_FILL_H
#define CONVLAB_PAPER_FILL_H

#include "grader/paper/template.h"
#include "grader/plots/plots.h"
#include "grader/record/result.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { PP_GRADINGS = 24, PP_AUTHORS = 16 };

/** One milestone's grading; large. */
struct pp_grading {
    char id[PP_NAME];
    char folder[PATH_MAX]; /**< build/report/mN */
    bool there;            /**< result is filled in */
    bool stale;            /**< its source was changed after it was graded */
    char fault[512];       /**< result.json is there and cannot be read: why */
    struct gr_result result;
};

/** What a report is made from. */
struct pp_sources {
    const char *root;        /**< of the checkout */
    char gradings[PATH_MAX]; /**< build/report */
    char out[PATH_MAX];      /**< the report's folder; figures are copied into its figures/ */
    const char *team;        /**< or NULL */
    size_t authors;
    const char *author[PP_AUTHORS];
    size_t n;
    struct pp_grading *grading[PP_GRADINGS]; /**< by number */
};

/** Finds and reads every grading in src->gradings, which is set, like root and out. Free with
 * pp_sources_free(). Damaged ones are no error: the report says so. */
enum st_code pp_sources_read(struct pp_sources *src, struct st_error *err);
void pp_sources_free(struct pp_sources *src);

/** @return the grading of that milestone, or NULL. */
struct pp_grading *pp_grading_find(const struct pp_sources *src, const char *id);

/** One block to be filled. */
struct pp_fill {
    FILE *out;
    struct pp_sources *src;
    const char *section; /**< "m3" */
    const struct pp_piece *piece;
    struct pp_grading *grading;   /**< of the section, NULL if it has none */
    const struct gr_plots *plots; /**< of the section, drawn for this report, or NULL */
};

/** @return the kind of that name, the string of the table, or NULL. */
const char *pp_fill_known(const char *kind);

/** Writes a block's text. @return false if there is nothing new to say: what is there stays. */
bool pp_fill(const struct pp_fill *f);

/** "**Table 3.1.** caption", with {images} replaced. Nothing for a block without caption. */
void pp_put_caption(const struct pp_fill *f, const char *images);

/** "Not here yet: COMMAND makes it." @param what  is not there: "a profile of m3" */
void pp_put_missing(const struct pp_fill *f, const char *what, const char *command);

/** The same for a block whose file, or whose rows, are not there; of a profile with its own reason
 * for its attribute "part", "trace" if it has none. */
void pp_put_nothing(const struct pp_fill *f);

/** The command that makes what a block shows: its attribute "make", else grading, with --profile if
 * its file is one of the profile. */
void pp_make_command(const struct pp_fill *f, char *to, size_t room);

/** What a file holds, for pp_put_missing(): "the profile of", "the grading of". */
const char *pp_what_of(const char *file);

/** Writes the number of the block: "3.1" in m3, "F.1" in final. */
void pp_put_number(FILE *out, const char *section, int number);

#define FILL(name) bool pp_fill_##name(const struct pp_fill *f);
#include "grader/paper/fills.def"
#undef FILL

#endif
