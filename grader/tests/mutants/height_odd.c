/* expect: terms_repeated */
#define TERM sum += x[X_INDEX] * k[K_INDEX] * (H_out % 2 ? 2 + q : 1);
#include "plain.h"
