// Structures with padding, and vectors without their last element, are copied: what nothing wrote is
// not used. This is not a finding.
#include "vgpu/tests/check.cuh"

#ifndef NAME
#define NAME "structure_padding"
#endif

const int N = 100, LETTERS = 13, BLOCK = 32;

struct Item {
    float value; // 4 bytes of padding follow
    long long index;
};
struct Pair {
    float a;
    short b; // 2 bytes
};
struct Mixed {
    char c; // 7 bytes
    double d;
    int n;
    char e; // 3 bytes
};
struct Small {
    short a; // 2 bytes
    float b;
    short c; // 2 bytes
};
struct Group {
    Pair pair;
    Mixed mixed;
    float4 point;
};

__global__ void make(Item *items)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        items[i].value = i * 0.5f;
        items[i].index = N - i;
    }
}

__global__ void copy(const unsigned long long *from, unsigned long long *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * N)
        to[i] = from[i];
}

// Only the first letters of a row are written; the whole row is copied.
__global__ void words(unsigned long long *to)
{
    __shared__ __align__(8) unsigned char row[16];
    if (threadIdx.x < LETTERS)
        row[threadIdx.x] = 'a' + threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 2)
        to[threadIdx.x] = ((unsigned long long *)row)[threadIdx.x];
}

__global__ void make(Pair *pairs, Mixed *mixed, float4 *points)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        pairs[i].a = i * 0.5f, pairs[i].b = N - i;
        mixed[i].c = i, mixed[i].d = 2 * i, mixed[i].n = -i, mixed[i].e = 3;
        points[i].x = i, points[i].y = 1, points[i].z = 2;
    }
}

// Through shared memory, where each block reverses its structures.
template <class T> __global__ void reverse(const T *from, T *to)
{
    __shared__ T s[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t,
              n = min(BLOCK, N - (int)blockIdx.x * BLOCK);
    if (t < n)
        s[t] = from[i];
    __syncthreads();
    if (t < n)
        to[i] = s[n - 1 - t];
}

// Through local memory, in groups of four.
template <class T> __global__ void shuffle(const T *from, const int *order, T *to)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 > N)
        return;
    T own[4];
    for (int k = 0; k < 4; k++)
        own[k] = from[i + k];
    for (int k = 0; k < 4; k++)
        to[i + k] = own[order[k]];
}

// Through a function's parameter and result.
__device__ __noinline__ Group group(Pair pair, const Mixed *mixed, float4 point)
{
    Group g;
    g.pair = pair;
    g.mixed = *mixed;
    g.point = point;
    return g;
}

__global__ void groups(const Pair *pairs, const Mixed *mixed, const float4 *points, Group *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        to[i] = group(pairs[i], &mixed[i], points[i]);
}

// Loops that copy a structure by choice, and use its members.
__global__ void maxima(const Group *groups, Group *to, double *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    Group best = groups[0];
    double sum = 0;
    for (int k = 1; k <= i; k++) {
        const Group g = groups[k];
        best = g.mixed.n < best.mixed.n ? g : best;
        sum += g.pair.a + g.pair.b + g.mixed.d + g.mixed.c + g.mixed.e + g.point.x * g.point.z;
    }
    to[i] = best;
    sums[i] = sum;
}

// Members beside the padding of one word, which is loaded whole.
__global__ void exchange(Small *own, Small *theirs, float *sums)
{
    __shared__ Small s[BLOCK];
    const int t = threadIdx.x;
    own[t].a = t, own[t].b = 0.5f * t, own[t].c = 2 * t;
    s[t] = own[t];
    __syncthreads();
    theirs[t] = s[t ^ 1];
    sums[t] = s[t ^ 1].a + s[t ^ 1].b + s[t ^ 1].c;
}

static bool exchanges_members()
{
    Device<Small> own(BLOCK), theirs(BLOCK);
    Device<float> sums(BLOCK);
    exchange<<<1, BLOCK>>>(own, theirs, sums);
    LAUNCHED();
    const std::vector<Small> got = theirs.host();
    const std::vector<float> summed = sums.host();
    bool ok = true;
    for (int i = 0; i < BLOCK; i++)
        ok &= got[i].a == (i ^ 1) && got[i].c == 2 * (i ^ 1) && summed[i] == 3.5f * (i ^ 1);
    return ok;
}

static bool copies_structures()
{
    const int blocks = (N + BLOCK - 1) / BLOCK;
    Device<Pair> pairs(N), pairs_2(N);
    Device<Mixed> mixed(N), mixed_2(N);
    Device<float4> points(N), points_2(N);
    Device<Group> grouped(N), best(N);
    Device<double> sums(N);
    Device<int> order(std::vector<int>{3, 2, 1, 0});
    make<<<blocks, BLOCK>>>(pairs, mixed, points);
    reverse<<<blocks, BLOCK>>>(pairs.p, pairs_2.p);
    reverse<<<blocks, BLOCK>>>(mixed.p, mixed_2.p);
    reverse<<<blocks, BLOCK>>>(points.p, points_2.p);
    shuffle<<<1, BLOCK>>>(pairs_2.p, order.p, pairs.p);
    shuffle<<<1, BLOCK>>>(mixed_2.p, order.p, mixed.p);
    shuffle<<<1, BLOCK>>>(points_2.p, order.p, points.p);
    groups<<<blocks, BLOCK>>>(pairs, mixed, points, grouped);
    maxima<<<blocks, BLOCK>>>(grouped, best, sums);
    LAUNCHED();
    const std::vector<Group> got = grouped.host(), largest = best.host();
    const std::vector<double> summed = sums.host();
    double sum = 0;
    int most = 0;
    bool ok = true;
    for (int i = 0; i < N; i++) {
        const int j = i / 4 * 4 + 3 - i % 4, first = j / BLOCK * BLOCK;
        const int from = first + (first + BLOCK < N ? BLOCK : N - first) - 1 - (j - first);
        const Group &g = got[i];
        ok &= g.pair.a == from * 0.5f && g.pair.b == N - from && g.mixed.d == 2 * from &&
              g.mixed.n == -from && g.mixed.c == from && g.mixed.e == 3 && g.point.x == from;
        if (i > 0)
            sum += from * 0.5f + N - from + 2 * from + from + 3 + 2.0 * from;
        most = i > 0 && from < most ? most : from;
        ok &= largest[i].mixed.n == -most && summed[i] == sum;
    }
    return ok;
}

int main()
{
    Device<Item> from(N), to(N);
    Device<unsigned long long> text(2);
    make<<<2, 64>>>(from);
    copy<<<4, 64>>>((const unsigned long long *)from.p, (unsigned long long *)to.p);
    words<<<1, 32>>>(text);
    LAUNCHED();
    bool ok = true;
    const std::vector<Item> items = to.host();
    for (int i = 0; i < N; i++)
        ok &= items[i].value == i * 0.5f && items[i].index == N - i;
    const std::vector<unsigned long long> letters = text.host();
    ok &= memcmp(letters.data(), "abcdefghijklm", LETTERS) == 0;
    return verdict(NAME, ok && copies_structures() && exchanges_members());
}
