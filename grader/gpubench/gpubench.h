/** @file
 * The benchmark of all GPU milestones and cuDNN, in one run on the same inputs.
 *
 *     gpubench_main.c      options, the order of things
 *     gpubench_subject.c   what is measured: libraries of labs, cuDNN
 *     gpubench_measure.c   one layer at one size: every subject in turn, every run timed and
 * checked gpubench_peaks.c     what the device can do at best gpubench_table.c     bench.tsv,
 * inputs, expected outputs, comparison
 */
#ifndef CONVLAB_GRADER_GPUBENCH_H
#define CONVLAB_GRADER_GPUBENCH_H

#include "base/status.h"
#include "conv.h"
#include "base/median.h"
#include "vendor/cudnn_conv.h"

#include <stdbool.h>

enum { GB_MAX_SUBJECTS = 24, GB_MAX_ROUNDS = 201, GB_MAX_SIZES = 8, GB_MAX_ROWS = 1024 };

/* ---- subjects ------------------------------------------------------------------------------- */

/** Something that computes a convolution. */
struct gb_subject {
    char name[32];    /**< "m3", "cudnn", "cudnn-tf32" */
    char reason[400]; /**< why it is skipped; empty if it is there */
    bool is_cudnn;
    enum vn_math math; /**< of cuDNN */
    int (*conv)(const struct conv_shape *, const float *, const float *, float *);
    struct vn_cudnn_conv cudnn; /**< prepared for the present shape */
};

/** All subjects. */
struct gb_subjects {
    size_t n;
    struct gb_subject subject[GB_MAX_SUBJECTS];
    struct vn_cudnn *cudnn;
    void *cudnn_workspace;
    size_t cudnn_workspace_bytes;
};

/** Adds a lab's library. @return ST_OK, also if it cannot be loaded: then it has a reason. */
enum st_code gb_subject_add_library(struct gb_subjects *all, const char *name, const char *path,
                                    struct st_error *err);

/** Adds cuDNN in both modes, or, with a reason, why it is not there. */
enum st_code gb_subject_add_cudnn(struct gb_subjects *all, bool is_virtual, struct st_error *err);

/** Prepares subjects for a shape: cuDNN chooses its algorithms. y is overwritten. */
void gb_subjects_prepare(struct gb_subjects *all, const struct conv_shape *shape, const float *x,
                         const float *k, float *y);

/** Starts one run on the default stream. @return true, or false with @p why filled. */
bool gb_subject_run(struct gb_subject *s, const struct conv_shape *shape, const float *x,
                    const float *k, float *y, char *why, size_t room);

/** Releases what gb_subjects_prepare() holds. */
void gb_subjects_release(struct gb_subjects *all);

/** Releases everything. */
void gb_subjects_free(struct gb_subjects *all);

/* ---- measuring ------------------------------------------------------------------------------ */

/** What the device can do at best, measured in the same run. */
struct gb_peaks {
    struct median copy_bytes_per_s, flops_per_s;
};

/** One layer of a model. */
struct gb_layer {
    const char *model;
    int layer;
    struct conv_shape shape; /**< B is set when run */
};

/** One subject's result for one layer at one size. */
struct gb_row {
    const struct gb_layer *layer;
    int images;
    char subject[32];
    char status[8];       /**< ok, wrong, failed or skip */
    char note[400];       /**< a reason, or cuDNN's algorithm */
    struct median s;      /**< seconds */
    double macs, bytes;   /**< of the convolution: x and k read once, y written once */
    double floor_s;       /**< of the direct algorithm (floor.h) */
    bool floor_is_memory; /**< which of the two limits is the floor */
    double error;         /**< largest error / tolerance */
};

/** How to measure. */
struct gb_plan {
    bool is_virtual;
    int sizes, images[GB_MAX_SIZES];
    int rounds; /**< 0: by size */
    unsigned seed;
    size_t l2_bytes; /**< of the device's last-level cache */
    size_t peak_bytes;
    int peak_blocks, peak_rounds;
};

/** Measures copy bandwidth and multiply-add throughput. */
enum st_code gb_peaks_measure(const struct gb_plan *plan, struct gb_peaks *peaks,
                              struct st_error *err);

/** Measures all subjects on one layer at one size, taking turns, and appends rows.
 * Every run gets a poisoned y and a cache without its tensors, and is checked; each round has new
 * inputs. @param rows  room for subjects more rows behind @p n */
enum st_code gb_measure(const struct gb_plan *plan, struct gb_subjects *all,
                        const struct gb_peaks *peaks, const struct gb_layer *layer, int images,
                        struct gb_row *rows, size_t *n, struct st_error *err);

/** Fails with a CUDA error's name and text; ST_OK for 0. */
enum st_code gb_cuda(int error, const char *what, struct st_error *err);

/* ---- output --------------------------------------------------------------------------------- */

/** Writes FOLDER/bench.tsv and FOLDER/peaks.tsv. */
enum st_code gb_write_tsv(const char *folder, const char *device, const struct gb_peaks *peaks,
                          const struct gb_row *rows, size_t n, struct st_error *err);

/** Prints the header: device, peaks. */
void gb_print_peaks(FILE *out, const char *device, bool is_virtual, const struct gb_peaks *peaks);

/** Prints the rows of one layer at one size. */
void gb_print_layer(FILE *out, const struct gb_row *rows, size_t n);

/** Prints each subject's sum over a model's layers, and over all, beside cuDNN's. */
void gb_print_totals(FILE *out, const struct gb_row *rows, size_t n);

/** Writes what gb_print_totals() prints as a table: FOLDER/totals.tsv. */
enum st_code gb_write_totals(const char *folder, const struct gb_row *rows, size_t n,
                             struct st_error *err);

#endif
