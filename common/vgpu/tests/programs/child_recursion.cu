// nvcc: -arch=compute_75 -rdc=true
// Kernels that launch kernels to a depth given by the data: quicksort, whose two parts are children
// in separate streams, and a search through a graph whose levels are grandchildren of
// grandchildren.
#include "vgpu/tests/check.cuh"

#include <algorithm>

const int SMALL = 24, DEPTH_MOST = 16;

__device__ void selection_sort(int *a, int left, int right)
{
    for (int i = left; i <= right; i++) {
        int least = i;
        for (int k = i + 1; k <= right; k++)
            least = a[k] < a[least] ? k : least;
        int t = a[i];
        a[i] = a[least];
        a[least] = t;
    }
}

__global__ void quicksort(int *a, int left, int right, int depth, int *grids)
{
    atomicAdd(grids, 1);
    if (depth >= DEPTH_MOST || right - left < SMALL) {
        selection_sort(a, left, right);
        return;
    }
    int pivot = a[(left + right) / 2], i = left, k = right;
    while (i <= k) {
        while (a[i] < pivot)
            i++;
        while (a[k] > pivot)
            k--;
        if (i <= k) {
            int t = a[i];
            a[i++] = a[k];
            a[k--] = t;
        }
    }
    cudaStream_t part;
    if (left < k) {
        cudaStreamCreateWithFlags(&part, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, part>>>(a, left, k, depth + 1, grids);
        cudaStreamDestroy(part);
    }
    if (i < right) {
        cudaStreamCreateWithFlags(&part, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, part>>>(a, i, right, depth + 1, grids);
        cudaStreamDestroy(part);
    }
}

// Node i has edges to 2i+1, 2i+2 and 3i+1; each level is a grid that the previous level launches at
// the tail.
__global__ void level(int *distance, int *frontier, int *next, int *counts, int depth, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, mine = i < counts[depth] ? frontier[i] : -1;
    for (int e = 0; mine >= 0 && e < 3; e++) {
        int to = e == 2 ? 3 * mine + 1 : 2 * mine + 1 + e;
        if (to < n && atomicCAS(&distance[to], -1, depth + 1) == -1)
            next[atomicAdd(&counts[depth + 1], 1)] = to;
    }
    if (i == 0 && depth < 30)
        level<<<(n + 127) / 128, 128, 0, cudaStreamTailLaunch>>>(distance, next, frontier, counts,
                                                                 depth + 1, n);
}

static bool sorts(int n, std::vector<int> *all)
{
    Random random(n);
    std::vector<int> a(n);
    for (int &x : a)
        x = random.below(10 * n);
    Device<int> d(a), grids(1);
    grids.zero();
    quicksort<<<1, 1>>>(d, 0, n - 1, 0, grids);
    LAUNCHED();
    std::vector<int> got = d.host();
    std::sort(a.begin(), a.end());
    all->insert(all->end(), got.begin(), got.end());
    all->push_back(grids.host()[0]);
    return got == a && grids.host()[0] > n / SMALL;
}

int main()
{
    const int n = 3000;
    std::vector<int> all;
    bool ok = sorts(2000, &all) && sorts(25, &all) && sorts(1, &all);
    std::vector<int> distance(n, -1), first(n, 0), counts(40, 0), want(n, -1);
    distance[0] = want[0] = 0;
    counts[0] = 1;
    Device<int> d(distance), frontier(first), next(first), c(counts);
    level<<<(n + 127) / 128, 128>>>(d, frontier, next, c, 0, n);
    LAUNCHED();
    for (int i = 0; i < n; i++)
        for (int to : {2 * i + 1, 2 * i + 2, 3 * i + 1})
            if (to < n && (want[to] < 0 || want[to] > want[i] + 1))
                want[to] = want[i] + 1;
    distance = d.host();
    ok &= distance == want;
    all.insert(all.end(), distance.begin(), distance.end());
    return verdict("child_recursion", ok, all);
}
