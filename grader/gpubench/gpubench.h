/** @file
 * Benchmarks all GPU milestones and cuDNN in one run on the same inputs.
 *
 *     gpubench_main.c      options, the main loop
 *     gpubench_subject.c   the subjects to measure: labs' libraries and cuDNN
 *     gpubench_measure.c   one layer at one size: runs the subjects alternately, times and checks
 *                          every run
 *     gpubench_peaks.c     the device's peak rates
 *     gpubench_table.c     bench.tsv and peaks.tsv, and the printed output
 *     gpubench_cuda.c      converts a CUDA error to a status
 *     gpubench_kernels.cu  inputs, expected outputs, comparison
 */
#pragma once

#include "base/status.h"
#include "conv.h"
#include "base/median.h"
#include "exercise/exercise.h"
#include "vendor/cudnn_conv.h"

#include <stdbool.h>

enum {
    BENCH_MAX_SUBJECTS = 24,
    BENCH_MAX_ROUNDS = 201,
    BENCH_MAX_SIZES = 8,
    BENCH_MAX_ROWS = 1024
};

/* ---- subjects ------------------------------------------------------------------------------- */

/** A library that computes a convolution. */
struct bench_subject {
    char name[32];    /**< "m3", "cudnn", "cudnn-tf32" */
    char reason[400]; /**< the reason for skipping the subject; otherwise empty */
    double tolerance; /**< for nn_conv_tolerance(): from the milestone with this name; 0:
                           float32's */
    const struct exercise *exercise; /**< of the milestone with this name, else the convolution */
    bool is_cudnn;
    enum vn_math math; /**< cuDNN's mode of arithmetic */
    int (*conv)(const struct conv_shape *, const float *, const float *, float *);
    struct vn_cudnn_conv cudnn; /**< prepared for the current shape */
};

/** All subjects. */
struct bench_subjects {
    size_t n;
    struct bench_subject subject[BENCH_MAX_SUBJECTS];
    struct vn_cudnn *cudnn;
    void *cudnn_workspace;
    size_t cudnn_workspace_bytes;
};

/** Adds a lab's library, which is judged by the tolerance in the rubric of milestone @p name.
 * @return ST_OK, even if the library cannot be loaded: then the subject gets a reason. */
enum st_code bench_subject_add_library(struct bench_subjects *all, const char *name,
                                       const char *path, struct st_error *err);

/** Adds cuDNN in both modes of arithmetic; if it is missing, with the reason. */
enum st_code bench_subject_add_cudnn(struct bench_subjects *all, bool is_virtual,
                                     struct st_error *err);

/** Prepares all subjects for a shape: lets cuDNN choose its algorithms. Overwrites y. */
void bench_subjects_prepare(struct bench_subjects *all, const struct conv_shape *shape,
                            const float *x, const float *k, float *y);

/** Starts one run on the default stream. A lab that works on host memory gets page-locked copies,
 * and its run is complete on return. @return true, or false with @p why set. */
bool bench_subject_run(struct bench_subject *s, const struct conv_shape *shape, const float *x,
                       const float *k, float *y, char *why, size_t room);

/** Undoes bench_subjects_prepare(). */
void bench_subjects_release(struct bench_subjects *all);

/** Frees everything. */
void bench_subjects_free(struct bench_subjects *all);

/* ---- measuring ------------------------------------------------------------------------------ */

/** The device's peaks, measured in the same run. */
struct bench_peaks {
    struct median copy_bytes_per_s, flops_per_s;
};

/** One layer of a model. */
struct bench_layer {
    const char *model;
    int layer;
    struct conv_shape shape; /**< B is set for each run */
};

/** One subject's result for one layer at one size. */
struct bench_row {
    const struct bench_layer *layer;
    int images;
    char subject[32];
    char status[8];       /**< ok, wrong, failed or skip */
    char note[400];       /**< the reason for the status, or cuDNN's algorithm */
    struct median s;      /**< seconds */
    double macs, bytes;   /**< of the convolution, if x and k are read once and y is written once */
    double floor_s;       /**< floor of the direct algorithm (floor.h) */
    bool floor_is_memory; /**< whether memory, not arithmetic, determines the floor */
    double error;         /**< largest error / tolerance */
};

/** The plan of a measurement. */
struct bench_plan {
    bool is_virtual;
    int sizes, images[BENCH_MAX_SIZES];
    int rounds; /**< 0: chosen by the size */
    unsigned seed;
    size_t l2_bytes; /**< size of the device's last-level cache */
    size_t peak_bytes;
    int peak_blocks, peak_rounds;
};

/** Measures copy bandwidth and multiply-add throughput. */
enum st_code bench_peaks_measure(const struct bench_plan *plan, struct bench_peaks *peaks,
                                 struct st_error *err);

/** Measures all subjects alternately on one layer at one size, and appends rows. Before every run,
 * y is poisoned and the tensors are removed from the cache; every run is checked, and each round
 * has new inputs. @param rows  have space for one more row per subject after @p n */
enum st_code bench_measure(const struct bench_plan *plan, struct bench_subjects *all,
                           const struct bench_peaks *peaks, const struct bench_layer *layer,
                           int images, struct bench_row *rows, size_t *n, struct st_error *err);

/** Returns an error with the name and text of a CUDA error; ST_OK for 0. */
enum st_code bench_cuda(int error, const char *what, struct st_error *err);

/* ---- output --------------------------------------------------------------------------------- */

/** Writes FOLDER/bench.tsv and FOLDER/peaks.tsv. */
enum st_code bench_write_tsv(const char *folder, const char *device,
                             const struct bench_peaks *peaks, const struct bench_row *rows,
                             size_t n, struct st_error *err);

/** Prints the header: the device and its peaks. */
void bench_print_peaks(FILE *out, const char *device, bool is_virtual,
                       const struct bench_peaks *peaks);

/** Prints the rows of one layer at one size. */
void bench_print_layer(FILE *out, const struct bench_row *rows, size_t n);

/** Prints each subject's total time per model and overall, with its speed-up over cuDNN. */
void bench_print_totals(FILE *out, const struct bench_row *rows, size_t n);
