/** @file
 * How one output was computed: the steps that the virtual GPU recorded
 * (vgpu/device/session_proof.h), and the products among them, each compared with the one that the
 * convolution needs.
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
    long index;  /**< -1: no element of a tensor was loaded */
    char file[208];
    int line;
    const char *kernel; /**< points into the table */
};

/** How a product contributes to the output. */
enum db_verdict {
    DB_RIGHT,
    DB_REPEATED,  /**< the same product again */
    DB_WRONG_X,   /**< another element of x than this weight needs, or none */
    DB_WRONG_K,   /**< another weight than this element of x needs, or none */
    DB_NOT_NEEDED /**< neither is one that the output needs */
};

/** A product of x and k, or of one of them and a number. */
struct db_term {
    const struct db_step *step;
    long x, k;     /**< indices, -1: not an element of that tensor */
    int x_operand; /**< which operand of the step is (meant to be) x; k is the other */
    long expected; /**< index in x if DB_WRONG_X, in k if DB_WRONG_K; -1: outside the tensor */
    enum db_verdict verdict;
};

/** The followed element. */
struct db_output {
    struct conv_shape shape;
    int b, m, h, w;
};

struct db_steps {
    struct db_step *step; /**< with ascending numbers */
    size_t steps;
    bool lost; /**< there were too many to keep */
    struct db_term *term;
    size_t terms;
    uint8_t *times; /**< [C * K * K] how often each needed product occurs */
    size_t missing;
};

/** Reads the steps from the record's table of the proof, which must outlive them. Free them in any
 * case. */
enum st_code db_steps_read(struct db_steps *to, const struct tsv *table,
                           const struct db_output *output, struct st_error *err);
void db_steps_free(struct db_steps *steps);

/** @return the step of that number, or NULL. */
const struct db_step *db_step_find(const struct db_steps *steps, uint32_t number);

/** @return the index in x or k of product number @p i = (c * K + p) * K + q. */
long db_needed_x(const struct db_output *o, int i);
long db_needed_k(const struct db_output *o, int i);
