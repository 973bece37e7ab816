/* expect: weights_channel_ignored */
#define K_INDEX m *K *K + p *K + q
#include "plain.h"
