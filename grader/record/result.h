/** @file
 * The record of one grading: what the grader fills in and report, JSON and plots are made from.
 */
#pragma once

#include "conv.h"
#include "nn/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gr_status { GR_PASS, GR_FAIL, GR_SKIP };

/** One fact about the technique, see grader/technique/facts.def. */
struct gr_evidence {
    char fact[48]; /**< "x_through_shared" */
    bool holds;
    double found;   /**< the number in the text */
    char text[320]; /**< what was found, and in brackets what is wanted */
};

/** One automatic check. Strings are UTF-8, may hold anything a student's program printed (already
 * escaped: no control characters but newline), and must be escaped again for HTML, LaTeX, ... */
struct gr_check {
    char name[64];  /**< the rubric's id: "unit_shapes" */
    char text[256]; /**< the rubric's sentence */
    enum gr_status status;
    double points, max_points;
    bool
        required; /**< false if it was not requested (--quick, --images): its skip is not a failure */
    char pattern[48];         /**< named error pattern, or "" */
    char message[2048];       /**< what was found, or why it was skipped */
    char hint[1024];          /**< what to do, or "" */
    char map[4096];           /**< an error map in monospace, or "" */
    struct gr_evidence lacks; /**< what the work of its kernels lacked; lacks.fact: "" if nothing */
    char graded[24];          /**< date of the earlier run that it was kept from; "": this run */
};

/** One manual item of the rubric, scored by the instructor. */
struct gr_manual {
    char name[64], text[512];
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
    double op_time_s[GR_MAX_REPEATS]; /**< in the order they were taken */
    double median_s;
};

/** @return the size at which it was taken: images, or the columns of a product of matrices, which is the
 * convolution of one row by filters of one element. */
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
    double correctness;             /**< share of images classified right */
    double expected_correctness;    /**< what the oracle's outputs give, or NAN if not known */
    double max_error;               /**< largest |y - ref| over its tensors */
    bool passed;
    char graded[24]; /**< as gr_check.graded; holds for its timings, too */
};

enum {
    GR_MAX_CHECKS = 32,
    GR_MAX_MANUAL = 16,
    GR_MAX_TIMINGS = 128,
    GR_MAX_INFERENCES = 16,
    GR_MAX_EVIDENCE = 12,
    GR_MAX_COUNTED = 2 /**< counters of a technique */
};

/** Op Times of all layers together, and as ratios of alternately timed code. */
struct gr_speed {
    size_t images; /**< the size that the rubric judges; 0: not timed */
    double op_time_s;
    double to_reference; /**< NAN if the reference was not timed */
    double to_baseline;  /**< to that of m2, or NAN */
    double uncertainty;  /**< of what is judged, as a share of it */
    double at_most;      /**< for full points: to_baseline, or milliseconds */
};

/** Everything one grading found. Large: allocate it. */
struct gr_result {
    char milestone[16]; /**< "m1" */
    char title[128];    /**< "CPU convolution" */
    char technique[256];
    char subject[32];     /**< "submission", "reference" or "library" */
    char source[1024];    /**< file that was graded, relative to the checkout where possible */
    char source_hash[65]; /**< SHA-256 of that file as it was compiled; "": not known */
    char model_hash[65];  /**< the same of the network that was loaded; "": none was */
    char version[64];     /**< of ConvLab: git describe, or "unknown" */
    char date[32];        /**< "2026-11-20 18:30 UTC" */
    char device[16];      /**< "cpu" */
    char profile[64];     /**< GPU profile, "" for the CPU */
    char machine[160];    /**< "Intel(R) Xeon(R) Processor, 2 cores, 23 GiB" */
    char timed_on[96];    /**< "cores 2-3", or a GPU by its UUID; "" where times are modelled */
    double timed_from, timed_until; /**< from when to when it had the turn: Unix time, or 0 */
    double sandbox_cpu_s; /**< processor time of what ended with its sandbox, in no getrusage() */
    char compiler[320];   /**< "gcc 12.2.0, -O3 -march=native" */
    char command[512];    /**< as it was typed */
    bool sandboxed;       /**< the submission's code was confined */
    char not_sandboxed[256]; /**< if it was not: why; "" where no submission was run */
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
    size_t unit_shapes, unit_shapes_right; /**< how many unit shapes were run and were right */
    double max_error;                      /**< over all compared tensors */
    char course_lines[4096]; /**< the course's output: Loading..., New Inference, Op Time: ... */
};

/** @return "pass", "fail" or "skip". */
const char *gr_status_name(enum gr_status status);

/** @return the status of that name, GR_SKIP for any other word. */
enum gr_status gr_status_named(const char *word);

/** @return the check of a name, or NULL. */
struct gr_check *gr_result_check(const struct gr_result *result, const char *name);

/** @return whether a check of that name failed. A name that ends with '_' stands for all that begin
 * with it: "inference_". */
bool gr_failed(const struct gr_result *result, const char *name);

enum { GR_SHORT_HASH = 8 };

/** @return the first characters of the source's hash, as people read it; "" if it is not known.
 * @p to has room for GR_SHORT_HASH + 1. */
const char *gr_short_hash(char *to, const struct gr_result *result);

/** @return the points of checks that this run was not requested, or could not make here. */
double gr_unchecked_points(const struct gr_result *result);

/** @return "submission", "reference", "plain loops" or "m2". */
const char *gr_subject_name(enum gr_subject subject);
