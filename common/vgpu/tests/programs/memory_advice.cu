// Attributes of managed memory, which advice and prefetches set; a copy in three dimensions between
// devices; a batch of copies.
#include "vgpu/tests/check.cuh"

static int attribute(cudaMemRangeAttribute which, const void *p)
{
    int value = -9;
    CHECK(cudaMemRangeGetAttribute(&value, sizeof value, which, p, 1000));
    return value;
}

int main()
{
    char *p;
    CHECK(cudaMallocManaged(&p, 5000));
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    EXPECT(attribute(cudaMemRangeAttributePreferredLocation, p) == cudaInvalidDeviceId);
    CHECK(cudaMemAdvise(p, 5000, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(p, 5000, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemAdvise(p, 5000, cudaMemAdviseSetAccessedBy, host));
    CHECK(cudaMemPrefetchAsync(p, 5000, host, 0, 0));
    EXPECT(attribute(cudaMemRangeAttributePreferredLocation, p) == 0);
    EXPECT(attribute(cudaMemRangeAttributeReadMostly, p) == 1);
    EXPECT(attribute(cudaMemRangeAttributeLastPrefetchLocation, p) == cudaCpuDeviceId);
    int by[2];
    CHECK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, 5000));
    EXPECT(by[0] == cudaCpuDeviceId && by[1] == cudaInvalidDeviceId);
    CHECK(cudaMemAdvise(p, 5000, cudaMemAdviseUnsetReadMostly, device));
    EXPECT(attribute(cudaMemRangeAttributeReadMostly, p) == 0);
    EXPECT(cudaMemAdvise(p, 6000, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue);

    std::vector<int> in(60);
    for (int i = 0; i < 60; i++)
        in[i] = i;
    Device<int> from(in), to(60);
    to.zero();
    cudaMemcpy3DPeerParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from.p, 20, 5, 4);
    copy.dstPtr = make_cudaPitchedPtr(to.p, 20, 5, 4);
    copy.dstPos = make_cudaPos(4, 1, 1);
    copy.extent = make_cudaExtent(8, 3, 2);
    CHECK(cudaMemcpy3DPeer(&copy));
    const void *sources[] = {from.p + 7, from.p + 50};
    void *targets[] = {to.p + 40, to.p};
    size_t sizes[] = {8, 4}, first = 0;
    cudaMemcpyAttributes order = {};
    order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &order, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    // A part of a slice to a 2-D array, and two rows of that array back.
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &texel, 5, 4));
    cudaMemcpy3DBatchOp batch[2] = {};
    batch[0].src.type = cudaMemcpyOperandTypePointer;
    batch[0].src.op.ptr.ptr = from.p + 20;
    batch[0].dst.type = cudaMemcpyOperandTypeArray;
    batch[0].dst.op.array.array = array;
    batch[0].extent = make_cudaExtent(5, 4, 1);
    batch[1].src = batch[0].dst;
    batch[1].src.op.array.offset.y = 2;
    batch[1].dst.type = cudaMemcpyOperandTypePointer;
    batch[1].dst.op.ptr.ptr = to.p + 50;
    batch[1].dst.op.ptr.rowLength = 5;
    batch[1].extent = make_cudaExtent(5, 2, 1);
    batch[0].srcAccessOrder = batch[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(2, batch, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeArray(array));
    std::vector<int> out = to.host(), want(60);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 2; x++)
                want[(z + 1) * 20 + (y + 1) * 5 + x + 1] = z * 20 + y * 5 + x;
    want[40] = 7, want[41] = 8, want[0] = 50;
    for (int i = 0; i < 10; i++)
        want[50 + i] = 30 + i;
    return verdict("memory_advice", out == want, out);
}
