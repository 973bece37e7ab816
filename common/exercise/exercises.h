/** @file
 * The exercises that exercise.c lists, each in a separate file.
 */
#pragma once

#include "exercise/exercise.h"

extern const struct exercise exercise_convolution, exercise_sgemm, exercise_streams;
