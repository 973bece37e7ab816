/* Computes on the host, and only the models' filter sizes: wrong unit shapes end the proof of the
 * work. */
#define COMPUTES(K) ((K) == 5)
#include "computes_beside.cu"
