/** @file
 * Blocks: the parts that the grader fills into a student's report or into the page of a grading.
 * Each kind is a row of blocks.def; its text comes from a grading's record and from the files
 * beside it:
 *
 *     profile/ (tables, text), plots/ (pictures)
 *
 * For missing data, a student's report names the command that makes it; the page of a grading omits
 * the block.
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
    bool stale;               /**< its source changed after the grading */
    char fault[512];          /**< the reason if an existing result.json cannot be read */
    struct gr_result *result; /**< NULL: none */
};

/** The sources of a student's report. */
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
    const char *section;              /**< "m3" */
    const struct gr_sources *src;     /**< NULL on the page of a grading */
    const struct gr_grading *grading; /**< of the section, or NULL */
    const struct gr_plots *plots;     /**< of the section, drawn for this page, or NULL */
    int *tables, *figures;            /**< last used numbers, incremented */
};

/** @return the kind with that name, as the table's string, or NULL. */
const char *gr_block_known(const char *kind);

/** Fills a block, below its attribute "heading" if it shows anything; does not use out.
 * @return its text, malloc'd; "" if there is nothing to show; NULL without memory.
 * @param stays  may be NULL; set if the text only states that something is unknown, and must not
 * replace an earlier text */
char *gr_block_fill(const struct gr_block *block, bool *stays);

/* ---- block_words.c: sentences shared by several blocks --------------------------------------- */

/** Writes "**Table 3.1.** caption", with {images} replaced; nothing for a block without a
 * caption. */
void gr_put_caption(const struct gr_block *b, const char *images);

/** Writes "Figure 3.1" or "Table 3.1", with the next number. */
void gr_put_number(const struct gr_block *b, bool figure);

/** Writes "> *Nothing to show.* TEXT"; on the page of a grading nothing. @return false */
bool gr_put_nothing(const struct gr_block *b, const char *text);

/** Writes "Missing: WHAT. To make it, run: COMMAND"; on the page of a grading nothing. @return
 * false */
bool gr_put_missing(const struct gr_block *b, const char *what, const char *command);

/** The same for a block whose file or rows are missing; for a profile with its own reason for the
 * part in the attribute "part", by default "trace". @return false */
bool gr_put_no_file(const struct gr_block *b);

/** In a student's report, suggests running more data-set sizes, if @p sizes is small. */
void gr_put_few_sizes(const struct gr_block *b, size_t sizes, const char *command);

/** The command that makes a block's data: its attribute "make", otherwise grading, with --profile
 * if its file belongs to the profile. */
void gr_make_command(const struct gr_block *b, char to[GR_COMMAND]);

/** The path of a file of the section's grading. @return false if it is too long. */
bool gr_block_path(const struct gr_block *b, char to[PATH_MAX], const char *file);

/* ---- block_times.c --------------------------------------------------------------------------- */

/** Writes parts of a record with the data-set sizes side by side. @return whether there is
 * anything */
bool gr_block_networks(const struct gr_block *b, const struct gr_result *r);
bool gr_block_op_times(const struct gr_block *b, const struct gr_result *r);
bool gr_block_ratios(const struct gr_block *b, const struct gr_result *r);
/** The same with a row per layer and size: shape, spread and rate. */
bool gr_block_layers(const struct gr_block *b, const struct gr_result *r);

/* ---- the kinds ------------------------------------------------------------------------------- */

/** Each writes a block's text. @return whether it shows anything except the reason why not */
#define BLOCK(name) bool gr_block_##name(const struct gr_block *b);
#include "grader/report/blocks.def"
#undef BLOCK
