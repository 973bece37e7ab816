/** @file
 * How one output was computed: the steps that the virtual GPU recorded
 * (vgpu/device/session_proof.h), and the products among them, each compared with the product that
 * the convolution needs.
 */
#pragma once

#include "base/status.h"
#include "base/tsv.h"
#include "conv.h"
#include "vgpu/api/vgpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A step; the members are those of struct vg_proof_step. */
struct db_step {
    uint32_t number;
    int kind; /**< enum vg_proof_step_kind */
    uint32_t launch, block[3], thread[3];
    char space[12];
    uint64_t address;
    int writes_output;
    float value[3];
    uint32_t from[3];
    char tensor; /**< 'x', 'k' or 'y' */
    long index;  /**< -1: not an element of a tensor */
    char file[208];
    int line;
    const char *kernel; /**< points into the table */
};

/** How a product contributes to the output. */
enum db_verdict {
    DB_RIGHT,
    DB_REPEATED,  /**< repeats an earlier product */
    DB_WRONG_X,   /**< the element of x is not the one that this weight needs, or is none */
    DB_WRONG_K,   /**< the weight is not the one that this element of x needs, or is none */
    DB_NOT_NEEDED /**< the output needs neither the element of x nor the weight */
};

/** A product of x and k, or of one of them and a number. */
struct db_term {
    const struct db_step *step;
    long x, k;     /**< indices; -1: not an element of this tensor */
    int x_operand; /**< the operand of the step that is (or should be) x; the other one is k */
    long expected; /**< index in x if DB_WRONG_X, in k if DB_WRONG_K; -1: outside the tensor */
    enum db_verdict verdict;
};

/** The followed element of y. */
struct db_output {
    struct conv_shape shape;
    int b, m, h, w;
};

struct db_steps {
    struct db_step *step; /**< in ascending order of their numbers */
    size_t steps;
    bool lost; /**< steps are missing, because there were too many */
    struct db_term *term;
    size_t terms;
    uint8_t *times; /**< [C * K * K] number of times that each needed product occurs */
    size_t missing;
};

/** Reads the steps from the proof table of a record, which must outlive them. Free the steps in any
 * case. */
enum st_code db_steps_read(struct db_steps *to, const struct tsv *table,
                           const struct db_output *output, struct st_error *err);
void db_steps_free(struct db_steps *steps);

/** @return the step with this number, or NULL. */
const struct db_step *db_step_find(const struct db_steps *steps, uint32_t number);

/** @return the index in x or k of product number @p i = (c * K + p) * K + q. */
long db_needed_x(const struct db_output *o, int i);
long db_needed_k(const struct db_output *o, int i);
