// Attributes of streams: the window of L2 that persists, copied to another stream; attributes that
// streams do not have.
#include "vgpu/tests/check.cuh"

int main()
{
    cudaStream_t a, b;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    Device<int> d(1000);
    cudaStreamAttrValue value = {}, got = {};
    CHECK(cudaStreamGetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.num_bytes == 0);
    value.accessPolicyWindow.base_ptr = d;
    value.accessPolicyWindow.num_bytes = 4000;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value));
    CHECK(cudaStreamCopyAttributes(b, a));
    CHECK(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.num_bytes == 4000 && got.accessPolicyWindow.base_ptr == d.p);
    EXPECT(cudaStreamSetAttribute(a, cudaLaunchAttributeClusterDimension, &value) ==
           cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(b));
    return verdict("stream_attributes", true, std::vector<int>{4000});
}
