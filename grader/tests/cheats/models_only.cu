/* Computes on the host, and only filters of the models' size: wrong unit shapes end the proof of the work. */
#define COMPUTES(K) ((K) == 5)
#include "computes_beside.cu"
