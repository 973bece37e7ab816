/** @file
 * The exercises that exercise.c lists, each in a file of its own.
 */
#ifndef CONVLAB_EXERCISES_H
#define CONVLAB_EXERCISES_H

#include "exercise/exercise.h"

extern const struct exercise exercise_convolution, exercise_sgemm, exercise_streams;

#endif
