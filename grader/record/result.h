/** @file
 * The record of one grading. The grader fills it in; report, JSON and plots are made from it.
 */
#pragma once

#include "conv.h"
#include "nn/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GR_ITEM_TEXT = 512 }; /**< bytes of a rubric item's sentence, which the schema limits */

enum gr_status { GR_PASS, GR_FAIL, GR_SKIP };

/** One fact about the technique; see grader/technique/facts.def. */
struct gr_evidence {
    char fact[48]; /**< "x_through_shared" */
    bool holds;
    double found;   /**< the number in the text */
    char text[320]; /**< the fact that was found, and in brackets the required fact */
};

/** One automatic check. Strings are UTF-8, may contain anything that a student's program printed
 * (already escaped: no control characters except newline), and must be escaped again for HTML,
 * LaTeX, ... */
struct gr_check {
    char name[64];           /**< the rubric's id: "unit_shapes" */
    char text[GR_ITEM_TEXT]; /**< the rubric's sentence */
    enum gr_status status;
    double points, max_points;
    bool required;      /**< false if it was not requested (--quick, --images): then a skip is not a
                       failure */
    char pattern[48];   /**< name of the error pattern, or "" */
    char message[2048]; /**< the finding, or the reason for a skip */
    char hint[1024];    /**< what to do, or "" */
    char map[4096];     /**< an error map in monospace, or "" */
    struct gr_evidence lacks; /**< a fact that the kernels' work lacks; lacks.fact "": none */
    char graded[24];          /**< date of the earlier run from which this check was kept; "": this
                                   run */
};

/** One manual item of the rubric, scored by the instructor. */
struct gr_manual {
    char name[64], text[GR_ITEM_TEXT];
    double max_points;
};

/** The code that was timed. */
enum gr_subject { GR_SUBMISSION, GR_REFERENCE, GR_PLAIN_LOOPS, GR_BASELINE };

enum { GR_MAX_REPEATS = 16 };

/** Op Times of one convolution of one inference. */
struct gr_timing {
    enum gr_subject subject;
    char model[64];
    int layer; /**< from 1 */
    struct conv_shape shape;
    double gmac;
    size_t repeats;
    double op_time_s[GR_MAX_REPEATS]; /**< in the order of measurement */
    double median_s;
};

/** @return the size of the measurement: images, or the columns of a matrix product, which is
 * treated as a convolution of one row with filters of one element. */
static inline size_t gr_timing_size(const struct gr_timing *t)
{
    return (size_t)(t->shape.H == 1 && t->shape.K == 1 ? t->shape.W : t->shape.B);
}

/** One inference of the submission: a model at a number of images. */
struct gr_inference {
    char model[64];
    size_t images;
    int convs;
    double op_time_s[NN_MAX_CONVS]; /**< median of each convolution */
    double correctness;             /**< share of images classified correctly */
    double expected_correctness;    /**< from the oracle's outputs, or NAN if unknown */
    double max_error;               /**< largest |y - ref| over all its tensors */
    bool passed;
    char graded[24]; /**< as gr_check.graded; applies to the timings too */
};

enum {
    GR_MAX_CHECKS = 32,
    GR_MAX_MANUAL = 16,
    GR_MAX_TIMINGS = 128,
    GR_MAX_INFERENCES = 16,
    GR_MAX_EVIDENCE = 12,
    GR_MAX_COUNTED = 2 /**< maximum number of counters of a technique */
};

/** The sum of the Op Times of all layers, and its ratios to other code that was timed
 * alternately. */
struct gr_speed {
    size_t images; /**< the size that the rubric judges; 0: not timed */
    double op_time_s;
    double to_reference; /**< ratio to the reference's sum; NAN: not timed */
    double to_baseline;  /**< ratio to m2's sum, or NAN */
    double uncertainty;  /**< relative uncertainty of the judged value */
    double at_most;      /**< the bound for full points, on to_baseline or in milliseconds */
};

/** All results of one grading. The structure is large: allocate it on the heap. */
struct gr_result {
    char milestone[16]; /**< "m1" */
    char title[128];    /**< "CPU convolution" */
    char technique[256];
    char subject[32];               /**< "submission", "reference" or "library" */
    char source[1024];              /**< the graded file, relative to the checkout if possible */
    char source_hash[65];           /**< SHA-256 of that file as compiled; "": unknown */
    char model_hash[65];            /**< SHA-256 of the loaded network; "": none */
    char version[64];               /**< ConvLab's version: git describe, or "unknown" */
    char date[32];                  /**< "2026-11-20 18:30 UTC" */
    char device[16];                /**< "cpu" */
    char profile[64];               /**< GPU profile, "" for the CPU */
    char machine[160];              /**< "Intel(R) Xeon(R) Processor, 2 cores, 23 GiB" */
    char timed_on[96];              /**< "cores 2-3", or a GPU's UUID; "" for modelled times */
    double timed_from, timed_until; /**< when the grading had the turn to measure times: Unix time,
                                         or 0 */
    double sandbox_cpu_s;    /**< processor time of processes that end with the sandbox, which
                                  getrusage() does not count */
    char compiler[320];      /**< "gcc 12.2.0, -O3 -march=native" */
    char command[512];       /**< as typed */
    bool sandboxed;          /**< the submission's code was confined */
    char not_sandboxed[256]; /**< the reason if it was not; "" if no submission was run */
    uint64_t seed;
    double score, max_score; /**< automatic points */
    double manual_max;
    size_t checks, manuals, timings, inferences, evidences;
    struct gr_check check[GR_MAX_CHECKS];
    struct gr_manual manual[GR_MAX_MANUAL];
    struct gr_timing timing[GR_MAX_TIMINGS];
    struct gr_inference inference[GR_MAX_INFERENCES];
    struct gr_evidence evidence[GR_MAX_EVIDENCE];
    struct gr_speed speed;
    size_t unit_shapes, unit_shapes_right; /**< numbers of unit shapes that ran, and that were
                                                right */
    double max_error;                      /**< over all compared tensors */
    char course_lines[4096]; /**< the course's output: Loading..., New Inference, Op Time: ... */
};

/** @return "pass", "fail" or "skip". */
const char *gr_status_name(enum gr_status status);

/** @return the status with this name; GR_SKIP for any other word. */
enum gr_status gr_status_named(const char *word);

/** @return the check with this name, or NULL. */
struct gr_check *gr_result_check(const struct gr_result *result, const char *name);

/** @return whether the check with this name failed. A name that ends with '_', such as
 * "inference_", stands for all checks with this prefix. */
bool gr_failed(const struct gr_result *result, const char *name);

enum { GR_SHORT_HASH = 8 };

/** @return the first characters of the source's hash, as shown to people; "" if the hash is
 * unknown. @param to  holds GR_SHORT_HASH + 1 characters. */
const char *gr_short_hash(char *to, const struct gr_result *result);

/** @return the points of checks that this run did not request, or could not run on this machine. */
double gr_unchecked_points(const struct gr_result *result);

/** @return "submission", "reference", "plain loops" or "baseline" (the code with which
 * the check "speed" compares). */
const char *gr_subject_name(enum gr_subject subject);
