/** @file
 * Names the mistake in a convolution from its wrong outputs.
 *
 * There are two kinds of pattern. A hypothesis ("the filter is flipped") predicts the whole output
 * of every case. It is named only if its prediction fits every element of every case, whether right
 * or wrong. A region ("the last row is missing") describes where the wrong elements are in all
 * cases.
 */
#pragma once

#include "grader/course/cases.h"
#include "grader/compare/compare.h"

#include <stdbool.h>
#include <stddef.h>

/** The diagnosis. Its texts are static or in its buffers: there is nothing to free. */
struct gr_diagnosis {
    const char *pattern; /**< "weights_flipped", ..., "" if none fits */
    bool predicts;       /**< the pattern predicts the values of wrong outputs, not only where they
                              are */
    char message[480];   /**< describes the mistake in a sentence, with evidence */
    char hint[320];      /**< where to look in the code */
};

/** Finds the pattern that fits all cases, or only the wrong cases.
 * @param cases     [n], at least one of them wrong
 * @param compared  [n], the result of gr_compare_images() for each whole case
 * @param reads_checked  whether reads outside a buffer or of unwritten memory would have been
 * reported, and were not: then a NaN can only come from y's earlier contents. */
void gr_diagnose(const struct gr_case *cases, const struct gr_compare *compared, size_t n,
                 bool reads_checked, struct gr_diagnosis *to);

/** Draws a map of one wrong case: the image and map of its first wrong element, one character per
 * output element ('.' right, 'x' wrong, '_' never written, 'N' NaN or Inf), cut or shrunk to at
 * most 66 columns and 24 rows, with a title line that names (b, m) and states whether the map is
 * shrunk, and a line with the numbers of wrong elements per image and per map, if these differ.
 * @param to  filled with lines ended by newlines, NUL-terminated. */
void gr_error_map(const struct gr_case *c, const struct gr_compare *compared, char *to,
                  size_t room);
