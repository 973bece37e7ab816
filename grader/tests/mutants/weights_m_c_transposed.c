/* expect: weights_m_c_transposed */
#define K_INDEX ((c * M + m) * K + p) * K + q
#include "plain.h"
