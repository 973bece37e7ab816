// Managed memory: one pointer for host and device, a linked list in it, __managed__ variables,
// prefetching.
#include "vgpu/tests/check.cuh"

struct Node {
    int value;
    Node *next;
};

__managed__ int total = 100;
__managed__ int table[8] = {1, 2, 3};

__global__ void walk(Node *n)
{
    for (; n; n = n->next) {
        total += n->value;
        n->value *= 2;
    }
    table[3] = table[0] + table[1] + table[2];
}

int main()
{
    Node *nodes;
    const int n = 20;
    CHECK(cudaMallocManaged(&nodes, n * sizeof(Node)));
    int want = 100;
    for (int i = 0; i < n; i++) {
        nodes[i] = {i * i, i + 1 < n ? &nodes[i + 1] : nullptr};
        want += i * i;
    }
    bool ok = total == 100 && table[1] == 2;
    table[1] = 20;
    cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(nodes, n * sizeof(Node), where, 0, 0));
    walk<<<1, 1>>>(nodes);
    LAUNCHED();
    ok &= total == want && table[3] == 24;
    for (int i = 0; i < n; i++)
        ok &= nodes[i].value == 2 * i * i;
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, nodes));
    ok &= attributes.type == cudaMemoryTypeManaged;
    total = 0;
    walk<<<1, 1>>>(nodes + n - 1);
    LAUNCHED();
    ok &= total == 2 * (n - 1) * (n - 1);
    CHECK(cudaFree(nodes));
    return verdict("managed_memory", ok);
}
