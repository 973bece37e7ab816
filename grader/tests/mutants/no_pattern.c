/* expect: none */
/* Wrong in a way that has no name: the grader must not invent a pattern. */
#define STORE y[Y_INDEX] = sum + (sum > 0.5f ? (float)((h * 7 + w * 3 + m) % 5) : 0);
#include "plain.h"
