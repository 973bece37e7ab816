/** @file
 * Naming what is wrong with a convolution from its wrong outputs.
 *
 * Two kinds of pattern. A hypothesis ("the filter is flipped") predicts the whole output of every
 * case; it is named only if its prediction fits every element of every case, right and wrong ones.
 * A region ("the last row is missing") describes where the wrong elements are in all cases.
 */
#pragma once

#include "grader/course/cases.h"
#include "grader/compare/compare.h"

#include <stdbool.h>
#include <stddef.h>

/** The diagnosis. Texts are static or in the buffers; nothing to free. */
struct gr_diagnosis {
    const char *pattern; /**< "weights_flipped", ..., "" when none fits */
    bool predicts;       /**< it says what every wrong output is, not only where or when */
    char message[320];   /**< what is wrong, in a sentence that cites evidence */
    char hint[320];      /**< what to look at in the code */
};

/** Finds the pattern that fits all cases, or else those that are wrong.
 * @param cases     [n], at least one of them wrong
 * @param compared  [n], what gr_compare_images() said of each whole case
 * @param reads_checked  whether reads outside of a buffer, or of what nobody wrote, would have been
 * reported, and were not: then a NaN can only come from what y held before. */
void gr_diagnose(const struct gr_case *cases, const struct gr_compare *compared, size_t n,
                 bool reads_checked, struct gr_diagnosis *to);

/** Draws a map of one wrong case: the image and map of its first wrong element, one character an
 * output element ('.' right, 'x' wrong, '_' never written, 'N' NaN or Inf), cut or shrunk to at
 * most 66 columns and 24 rows, with a title line that says which (b, m) and whether it is shrunk,
 * and a line that counts wrong elements per image and per map where they differ.
 * @param to  filled with lines ended by newlines, NUL-terminated. */
void gr_error_map(const struct gr_case *c, const struct gr_compare *compared, char *to,
                  size_t room);
