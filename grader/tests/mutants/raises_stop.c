/* expect: time_limit (behaviour) */
#include <signal.h>
#define END raise(SIGSTOP);
#include "plain.h"
