/** @file
 * Blocks: the parts that the grader fills into a student's report or into the page of a grading.
 * Each kind is a row of blocks.def; its text comes from a grading's record and from files in the
 * record's folder:
 *
 *     profile/ (tables, text), plots/ (pictures)
 *
 * If data is missing, a student's report names the command that makes it; the page of a grading
 * omits the block.
 */
#pragma once

#include "base/tsv.h"
#include "grader/plots/plots.h"
#include "grader/record/result.h"
#include "grader/report/piece.h"

#include <limits.h>
#include <stdio.h>

enum { GR_GRADINGS = 24, GR_AUTHORS = 16, GR_COMMAND = 160 };

/** One milestone's grading. */
struct gr_grading {
    char id[GR_NAME];
    char folder[PATH_MAX];    /**< build/report/mN */
    bool stale;               /**< the source was changed after the grading */
    char fault[512];          /**< the reason if an existing result.json cannot be read */
    struct gr_result *result; /**< NULL: there is none */
};

/** The data from which a student's report is made. */
struct gr_sources {
    const char *root;        /**< root of the checkout */
    char gradings[PATH_MAX]; /**< build/report */
    char out[PATH_MAX];      /**< the report's folder; figures are copied into its figures/ */
    const char *team;        /**< or NULL */
    const char *folder,
        *technique; /**< for a page about one technique: "req_1", "tensor cores"; otherwise NULL */
    size_t authors;
    const char *author[GR_AUTHORS];
    size_t n;
    struct gr_grading *grading[GR_GRADINGS]; /**< by milestone number */
};

/** A block to fill. */
struct gr_block {
    FILE *out;
    const struct gr_piece *piece;
    const char *section;              /**< name of the section: "m3" */
    const struct gr_sources *src;     /**< NULL on the page of a grading */
    const struct gr_grading *grading; /**< the section's grading, or NULL */
    const struct gr_plots *plots;     /**< the section's plots, drawn for this page, or NULL */
    int *tables, *figures;            /**< numbers of the last table and figure, incremented */
};

/** @return the name of this kind, as the table's string, or NULL if there is no such kind. */
const char *gr_block_known(const char *kind);

/** Makes the text of a block, with its attribute "heading" above it unless there is nothing to
 * show; does not use `out`.
 * @return its text, malloc'd; "" if there is nothing to show; NULL: out of memory.
 * @param stays  may be NULL; set to whether the text only states that something is unknown, and so
 * must not replace an earlier text */
char *gr_block_fill(const struct gr_block *block, bool *stays);

/* ---- block_words.c: sentences shared by several blocks --------------------------------------- */

/** Writes "**Table 3.1.** caption", with {images} replaced; nothing for a block without a
 * caption. */
void gr_put_caption(const struct gr_block *b, const char *images);

/** Writes "Figure 3.1" or "Table 3.1", with the next number. */
void gr_put_number(const struct gr_block *b, bool figure);

/** Writes "> *Nothing to show.* TEXT"; writes nothing on the page of a grading. @return false */
bool gr_put_nothing(const struct gr_block *b, const char *text);

/** Writes "Missing: WHAT. To make it, run: COMMAND"; writes nothing on the page of a grading.
 * @return false */
bool gr_put_missing(const struct gr_block *b, const char *what, const char *command);

/** As gr_put_missing(), for a block whose file or rows are missing. In a profile, gives the
 * profile's reason for the part named in the attribute "part", by default "trace". @return false */
bool gr_put_no_file(const struct gr_block *b);

/** In a student's report, suggests running more data-set sizes if there are few. */
void gr_put_few_sizes(const struct gr_block *b, size_t sizes, const char *command);

/** Writes the command that makes a block's data: its attribute "make", or else the grading command,
 * with --profile if the block's file belongs to the profile. */
void gr_make_command(const struct gr_block *b, char to[GR_COMMAND]);

/** Makes the path of a file of the section's grading. @return false if the path is too long. */
bool gr_block_path(const struct gr_block *b, char to[PATH_MAX], const char *file);

/* ---- block_times.c --------------------------------------------------------------------------- */

/** Writes parts of a record with the data-set sizes side by side. @return whether there is anything
 * to show */
bool gr_block_networks(const struct gr_block *b, const struct gr_result *r);
bool gr_block_op_times(const struct gr_block *b, const struct gr_result *r);
bool gr_block_ratios(const struct gr_block *b, const struct gr_result *r);
/** As gr_block_networks(), with a row per layer and size: shape, spread and rate. */
bool gr_block_layers(const struct gr_block *b, const struct gr_result *r);

/* ---- the kinds ------------------------------------------------------------------------------- */

/** Each function writes a block's text. @return whether the text shows anything other than the
 * reason why there is nothing */
#define BLOCK(name) bool gr_block_##name(const struct gr_block *b);
#include "grader/report/blocks.def"
#undef BLOCK
