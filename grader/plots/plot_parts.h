/** @file
 * The parts that make a plot. Internal to grader/plots.
 *
 *     tables ──maker──▶ NAME.tsv, NAME.gp in a stage folder ──gnuplot──▶ pictures ──▶ DIR/plots
 *
 * A maker (op_times_plot.c, ...) reads its input, and begins a plot or gives the reason why it
 * cannot be drawn. The appearance is determined by the plot's script, KIND.gp, and by style.gp,
 * which has the fonts, lines and fills of all plots. Both are embedded in the program (compile.mk).
 * A maker writes only the plot's table and the values that the script needs.
 */
#pragma once

#include "conv.h"
#include "base/numbers.h"
#include "base/status.h"
#include "base/files.h"
#include "base/tsv.h"
#include "grader/plots/plots.h"
#include "vgpu/api/vgpu.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- the contents of a result.json ---------------------------------------------------------- */

enum { PLOT_TIMES_MAX = 256 };

/** One Op Time. */
struct plot_time {
    char subject[24]; /**< gr_subject_name(); "" for an inference */
    char model[64];
    char shape[40]; /**< "1x70x70, 12@5" or "M=64 N=64 K=64", or "" */
    int layer;
    long images;
    double ms;              /**< median */
    struct conv_shape conv; /**< the shape, except for an inference */
    bool right;             /**< the outputs of the inference were right */
};

/** The contents of a result.json that plots need. */
struct plot_result {
    char milestone[16], subject[32], device[32], profile[96];
    size_t n;
    struct plot_time time[PLOT_TIMES_MAX];
};

/* ---- plot_files.c ---------------------------------------------------------------------------- */

/** A plot that is being made. */
struct plot_job {
    struct gr_plot *result; /**< the result for the caller */
    bool begun;             /**< there are a table and a script to draw */
    FILE *table, *values;   /**< open between plot_begin() and plot_end() */
};

/** All plots of a folder. */
struct plot_stage {
    char folder[PATH_MAX]; /**< DIR */
    char to[PATH_MAX];     /**< DIR/plots */
    char stage[PATH_MAX];  /**< DIR/plots/.new-XXXXXX */
    struct gr_plots *plots;
    struct plot_job job[GR_PLOTS_MAX];
    bool graded;               /**< DIR has a result.json, whose contents are in result */
    struct plot_result result; /**< its device is "" if there is no result.json */
    char origin[160];          /**< where DIR's numbers come from, as in plot_origin() */
};

/** Creates the folders. */
enum st_code plot_stage_open(struct plot_stage *stage, const char *folder, struct gr_plots *plots,
                             struct st_error *err);

/** Adds a plot with this name. @return NULL if there are too many plots. */
struct plot_job *plot_add(struct plot_stage *stage, const char *name);

/** Opens a file of the stage for writing. */
FILE *plot_file(const struct plot_stage *stage, const struct plot_job *job, const char *suffix,
                struct st_error *err);

/** Runs gnuplot on all plots that were begun, and moves complete files into place. */
enum st_code plot_stage_draw(struct plot_stage *stage, struct st_error *err);

/** Removes the stage folder. */
void plot_stage_close(struct plot_stage *stage);

/** Gives the reason why a plot is missing, printf style. */
void plot_skip(struct plot_job *job, const char *reason, ...) __attribute__((format(printf, 2, 3)));

/** Adds a sentence to the caption, printf style. */
void plot_caption(struct plot_job *job, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- plot_script.c --------------------------------------------------------------------------- */

/** The number of line types and fills (style.gp) that are distinguishable even in grey. */
enum { PLOT_STYLES = 8 };

/** Begins a plot: opens its table (job->table) and its values (job->values), which are gnuplot
 * lines at the start of its script. End it with plot_end(). @param origin  the line below the
 * title, which states where the numbers come from */
enum st_code plot_begin(struct plot_stage *stage, struct plot_job *job, const char *title,
                        const char *origin, struct st_error *err);

/** Ends the table and the script. @param script  of the plot's kind: KIND_gp */
enum st_code plot_end(struct plot_job *job, const char *script, struct st_error *err);

/** Declares an array of @p n values, NAME[1] and so on. */
void plot_list(const struct plot_job *job, const char *name, size_t n);

/* The scripts of this folder, KIND.gp. */
extern const char style_gp[], op_times_gp[], speed_up_gp[], ladder_gp[], against_cudnn_gp[],
    roofline_gp[], kernel_shares_gp[], timeline_gp[], source_lines_gp[], sweep_gp[];

/* ---- plot_text.c ----------------------------------------------------------------------------- */

/** Makes text for pictures: on one line, ASCII, without quotes, backslash and backtick. If the text
 * is longer than @p chars, ".." replaces its middle. @return @p to. */
const char *plot_text(char *to, size_t room, const char *text, size_t chars);

/** Makes a kernel's name without return type and parameters and, if the name is longer than
 * @p chars, without template arguments. @return @p to. */
const char *plot_kernel(char *to, size_t room, const char *name, size_t chars);

/** Writes one row of a data file, tab-separated. @param types  s text, d int, g double (NaN if not
 * finite), z size_t */
void plot_row(FILE *out, const char *types, ...);

/** Writes a number of a data file; NaN if it is not finite. */
void plot_put_number(FILE *out, double value);

/* ---- plot_tables.c: input -------------------------------------------------------------------- */

/** Reads DIR/NAME if it exists. @return false if it does not exist or cannot be read (see
 * @p why). */
bool plot_table(struct tsv *table, const char *folder, const char *name, char *why, size_t room);

/** A number in a table; NAN if the column does not exist or the cell is not a number. */
double plot_number(const struct tsv *table, size_t row, const char *column);

/** A text in a table; "" if the column does not exist. */
const char *plot_cell(const struct tsv *table, size_t row, const char *column);

/** Finds the profile of a GPU by its file's name or its product name. @return false if there is
 * none. */
bool plot_profile(struct vg_profile *to, const char *device);

/** Reads a result.json. @return ST_NOT_FOUND, or ST_BAD_FORMAT, with err set. */
enum st_code plot_result_read(struct plot_result *to, const char *path, struct st_error *err);

/** Describes where a result's times come from: "H200" ... "modelled: virtual GPU, profile h200". */
const char *plot_origin(char *to, size_t room, const struct plot_result *result);

/** Reads DIR/result.json into the stage. */
void plot_stage_read(struct plot_stage *stage);

/* ---- plot_gradings.c: other milestones' results ---------------------------------------------- */

enum { PLOT_GRADINGS_MAX = 24 };
struct gradings {
    size_t n;
    struct plot_result *of[PLOT_GRADINGS_MAX];
};

/** Reads the gradings in the folder or, if the folder is a grading mN, this grading and those next
 * to it. Free them with plot_gradings_free(). */
void plot_gradings_read(struct gradings *gradings, const struct plot_stage *stage);
void plot_gradings_free(struct gradings *gradings);

/** @return whether both results are from the same device: only then are their times shown
 * together. */
bool plot_same_device(const struct plot_result *a, const struct plot_result *b);

/** @return the Op Time of a layer (0: any layer) at a size with right outputs; or NULL. */
const struct plot_time *plot_right_time(const struct plot_result *result, const char *model,
                                        long images, int layer);

/** @return whose code a result is about: "yours", "reference" or "library". */
const char *plot_whose(const struct plot_result *result);

/* ---- the makers ----------------------------------------------------------------------------- */

enum st_code plot_op_times(struct plot_stage *stage, struct st_error *err);
enum st_code plot_speed_up(struct plot_stage *stage, struct st_error *err);
enum st_code plot_ladder(struct plot_stage *stage, struct st_error *err);
enum st_code plot_against_cudnn(struct plot_stage *stage, struct st_error *err);
enum st_code plot_roofline(struct plot_stage *stage, struct st_error *err);
enum st_code plot_shares(struct plot_stage *stage, struct st_error *err);
enum st_code plot_timeline(struct plot_stage *stage, struct st_error *err);
enum st_code plot_lines(struct plot_stage *stage, struct st_error *err);
enum st_code plot_sweeps(struct plot_stage *stage, struct st_error *err);
