/* Templates that instantiate ever more templates. */
template <int N, int M> struct bomb {
    static const int value = bomb<N - 1, 2 * M>::value + bomb<N - 1, 2 * M + 1>::value;
};
template <int M> struct bomb<0, M> {
    static const int value = M;
};
int exploded = bomb<60, 1>::value;
#include "plain.cuh"
