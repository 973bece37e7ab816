/* expect: terms_repeated */
#define TERM sum += x[X_INDEX] * k[K_INDEX] * ((c * K + p) * K + q == C * K * K - 1 ? 2 : 1);
#include "plain.h"
