/** @file
 * An exercise: the contract of a family of milestones. The first letter of a milestone's id selects
 * the exercise, unless the milestone has its own contract.
 *
 *     m2, m3, ...   the convolution   conv.h   convolution.c
 *     m13           the same, of tensors in host memory
 *     g2, g3, ...   SGEMM             gemm.h   sgemm.c
 *
 * The harness computes convolutions, so an exercise describes its tensors as a convolution's:
 * `adapt` turns the exercise's function into a convolution, `shape` its sizes into a convolution's.
 * Oracle, tolerance and proof of the work then apply unchanged. Only the convolution has a network
 * and the diagnosis by pattern.
 */
#pragma once

#include "base/rng.h"
#include "conv.h"

#include <stdbool.h>
#include <stddef.h>

/** A function that computes a convolution, like conv_forward(). */
typedef int exercise_function(const struct conv_shape *, const float *, const float *, float *);

/** One unit shape and its purpose. */
struct exercise_shape {
    struct conv_shape shape;
    const char *label;
};

/** How exercise.describe names a shape. */
enum exercise_text {
    EXERCISE_SHAPE, /**< "B=1 M=2 C=3 H=4 W=5 K=6" */
    EXERCISE_LAYER, /**< "a layer with C=3, H=4, W=5" */
    EXERCISE_RUN,   /**< "100 images, C=3, H=4, W=5" */
    EXERCISE_SIZE   /**< "100 images" */
};

/** A phrase of the grader's messages, which are about convolutions, and its replacement in this
 * exercise. */
struct exercise_word {
    const char *of, *to;
};

/** EXERCISE_LAYERS shapes prove the work: an ordinary one, and one with a single input map. */
enum { EXERCISE_COLUMNS = 6, EXERCISE_LAYERS = 2, EXERCISE_TEXT = 96 };

/** The contract. */
struct exercise {
    char letter;           /**< first letter of its milestones' ids */
    const char *milestone; /**< NULL, or the only milestone with this contract: "m13" */
    const char *name;      /**< "convolution" */
    const char *entry;     /**< the exported function: "conv_forward" */
    const char *signature; /**< its declaration, with names */
    const char *types;     /**< its declaration, without names */
    const char *file;      /**< base name of its files: "conv" of conv.c, conv.cu and conv.h */

    /** @return a convolution that calls the exported function. */
    exercise_function *(*adapt)(void *symbol);

    const char *column[EXERCISE_COLUMNS]; /**< the names of its sizes, then NULL */
    /** @return the convolution with these sizes, in the order of the columns. */
    struct conv_shape (*shape)(const int *size);
    const struct exercise_shape *shapes; /**< the unit shapes of every grading */
    size_t shapes_count;
    struct conv_shape (*random)(struct rng *); /**< one more unit shape, at random */

    void (*describe)(char to[EXERCISE_TEXT], const struct conv_shape *, enum exercise_text);

    bool
        host_tensors; /**< GPU: x, k and y are page-locked host memory, and copies are part of the time */
    struct conv_shape copied; /**< with host_tensors: the layer whose copies are judged */

    const struct exercise_word *words; /**< ends with `of` NULL; NULL: use the grader's words */

    struct conv_shape least[EXERCISE_LAYERS]; /**< the smallest shapes that prove the work */
    struct conv_shape
        own[EXERCISE_LAYERS]; /**< used if the technique compares layers or has whole_layers */
    struct conv_shape most;   /**< the largest shape for proving more of the work */

    /** @return the convolution of a size N. NULL: a size is a number of images for the layers of a
     * network, and wrong outputs are diagnosed. */
    struct conv_shape (*square)(int size);
    const char *sized;    /**< prefix of a size's rubric item: "inference" of inference_100 */
    int speed_size;       /**< the size at which "speed" is judged */
    const char *baseline; /**< milestone whose reference the speed is compared with: "m2" */
    bool plain_baseline;  /**< compare with the plain version of that reference, libconv-plain.so */
};

/** @return the exercise with this name or of this milestone (its own exercise, or by the first
 * letter of its id); for any other text, the first exercise. */
const struct exercise *exercise_of(const char *text);

/** Writes a size of the exercise: "100 images". @return @p to. */
char *exercise_size(const struct exercise *exercise, size_t size, char to[EXERCISE_TEXT]);

/** Replaces the grader's phrases in a text by the exercise's words. The text is cut if it does not
 * fit. */
void exercise_say(const struct exercise *exercise, char *text, size_t room);

/** exercise_say() for a page of any length. A page quotes code, so only phrases of several letters
 * are replaced.
 * @param text  malloc'd; ownership is taken @return malloc'd; if out of memory, the unchanged
 * text */
char *exercise_say_page(const struct exercise *exercise, char *text);

/** @return the i-th exercise that a first letter selects; NULL after the last one. */
const struct exercise *exercise_at(size_t i);
