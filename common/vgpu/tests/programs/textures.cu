// Texture and surface objects: linear memory, pitched memory, arrays of one, two and three
// dimensions, layers; address modes, normalised coordinates and values, linear filtering, gathers;
// surface writes.
#include "vgpu/tests/check.cuh"

const int W = 13, H = 7, D = 3;

__global__ void fetch_linear(cudaTextureObject_t t, int n, float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(t, i); // beyond the end: 0
}

__global__ void fetch_2d(cudaTextureObject_t t, float x, float y, float scale, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<float>(t, x + scale * (i % 8), y + scale * (i / 8));
}

__global__ void fetch_bytes(cudaTextureObject_t raw, cudaTextureObject_t normal, float *out)
{
    int i = threadIdx.x;
    uchar4 v = tex2D<uchar4>(raw, i % W, i / W);
    float4 f = tex2D<float4>(normal, i % W, i / W);
    out[i] = v.x + 2 * v.y + 4 * v.z + 8 * v.w + rintf((f.x + f.w) * 255);
}

__global__ void fetch_3d(cudaTextureObject_t t, cudaTextureObject_t layers, float *out)
{
    int i = threadIdx.x;
    float x = i % W + 0.5f, y = i / W % H + 0.5f;
    out[i] =
        tex3D<float>(t, x, y, i / (W * H) + 0.5f) + 1000 * tex2DLayered<float>(layers, x, y, 2);
}

__global__ void gather(cudaTextureObject_t t, float *out)
{
    float4 v = tex2Dgather<float4>(t, 3.0f, 2.0f, 0);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}

__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = blockIdx.x;
    float v = surf2Dread<float>(from, x * 4, y);
    surf2Dwrite(v + 0.5f, to, (W - 1 - x) * 4, H - 1 - y);
    if (x == 0) // the write is dropped, the read returns zero
        surf2Dwrite(surf2Dread<float>(from, -4, y, cudaBoundaryModeZero), to, W * 4, y,
                    cudaBoundaryModeZero);
}

static cudaTextureObject_t texture(const cudaResourceDesc &r, cudaTextureFilterMode filter,
                                   cudaTextureReadMode read, bool normalised,
                                   cudaTextureAddressMode mode)
{
    cudaTextureDesc d = {};
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalised;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static cudaResourceDesc resource(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

int main()
{
    std::vector<float> image(W * H * D), exact;
    for (size_t i = 0; i < image.size(); i++)
        image[i] = (float)((i * 7) % 64);
    Device<float> out(W * H * D);
    bool ok = true;
    auto keep = [&](size_t n) {
        LAUNCHED();
        std::vector<float> got = out.host();
        got.resize(n);
        exact.insert(exact.end(), got.begin(), got.end());
        return got;
    };

    Device<float> plain(image);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = plain.p;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = 20 * sizeof(float);
    cudaTextureObject_t t =
        texture(linear, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp);
    fetch_linear<<<1, 32>>>(t, 20, out);
    std::vector<float> got = keep(32);
    for (int i = 0; i < 32; i++)
        ok &= got[i] == (i < 20 ? image[i] : 0);
    CHECK(cudaDestroyTextureObject(t));

    cudaArray_t a, b;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&a, &desc, W, H, cudaArraySurfaceLoadStore | cudaArrayTextureGather));
    CHECK(cudaMallocArray(&b, &desc, W, H, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, image.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));

    // Outside: clamped; wrapped and mirrored with normalised coordinates; or 0 (border).
    const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeWrap,
                                            cudaAddressModeMirror, cudaAddressModeBorder};
    for (int m = 0; m < 4; m++) {
        bool normalised = m == 1 || m == 2;
        t = texture(resource(a), cudaFilterModePoint, cudaReadModeElementType, normalised,
                    modes[m]);
        float scale = normalised ? 0.25f : 3;
        fetch_2d<<<1, 64>>>(t, normalised ? -0.5f : -5.5f, normalised ? -0.375f : -2.5f, scale,
                            out);
        got = keep(64);
        for (int i = 0; i < 64; i++) {
            double x = normalised ? (-0.5 + scale * (i % 8)) * W : -5.5 + scale * (i % 8);
            double y = normalised ? (-0.375 + scale * (i / 8)) * H : -2.5 + scale * (i / 8);
            int p = (int)floor(x), q = (int)floor(y);
            auto place = [&](int v, int n) {
                if (m == 1)
                    return (v % n + n) % n;
                if (m == 2) {
                    v = (v % (2 * n) + 2 * n) % (2 * n);
                    return v < n ? v : 2 * n - 1 - v;
                }
                return m == 0 ? (v < 0 ? 0 : v >= n ? n - 1 : v) : (v < 0 || v >= n ? -1 : v);
            };
            p = place(p, W), q = place(q, H);
            ok &= got[i] == (p < 0 || q < 0 ? 0 : image[q * W + p]);
        }
        CHECK(cudaDestroyTextureObject(t));
    }

    // Halfway between four texels, all weights are one half: exact.
    t = texture(resource(a), cudaFilterModeLinear, cudaReadModeElementType, false,
                cudaAddressModeClamp);
    fetch_2d<<<1, 64>>>(t, 1.0f, 1.0f, 0.5f, out);
    got = keep(64);
    for (int i = 0; i < 64; i++) {
        float x = 1 + 0.5f * (i % 8) - 0.5f, y = 1 + 0.5f * (i / 8) - 0.5f;
        int p = (int)x, q = (int)y;
        float u = x - p, v = y - q;
        ok &= got[i] == (1 - v) * ((1 - u) * image[q * W + p] + u * image[q * W + p + 1]) +
                            v * ((1 - u) * image[(q + 1) * W + p] + u * image[(q + 1) * W + p + 1]);
    }
    gather<<<1, 1>>>(t, out);
    got = keep(4);
    ok &= got[0] == image[2 * W + 2] && got[1] == image[2 * W + 3] && got[2] == image[W + 3] &&
          got[3] == image[W + 2];

    // Surfaces.
    cudaSurfaceObject_t from, to;
    cudaResourceDesc ra = resource(a), rb = resource(b);
    CHECK(cudaCreateSurfaceObject(&from, &ra));
    CHECK(cudaCreateSurfaceObject(&to, &rb));
    turn<<<H, W>>>(from, to);
    LAUNCHED();
    got.resize(W * H);
    CHECK(cudaMemcpy2DFromArray(got.data(), W * 4, b, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        ok &= got[i] == image[W * H - 1 - i] + 0.5f;
    exact.insert(exact.end(), got.begin(), got.end());

    // Bytes in pitched memory: read unchanged, and as fractions of 255.
    std::vector<uchar4> bytes(W * H);
    for (int i = 0; i < W * H; i++)
        bytes[i] = make_uchar4(i, 3 * i, 5 * i, 255 - i);
    uchar4 *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, W * 4, H));
    CHECK(cudaMemcpy2D(pitched, pitch, bytes.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc r2 = {};
    r2.resType = cudaResourceTypePitch2D;
    r2.res.pitch2D.devPtr = pitched;
    r2.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r2.res.pitch2D.width = W;
    r2.res.pitch2D.height = H;
    r2.res.pitch2D.pitchInBytes = pitch;
    fetch_bytes<<<1, W * H>>>(
        texture(r2, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp),
        texture(r2, cudaFilterModePoint, cudaReadModeNormalizedFloat, false, cudaAddressModeClamp),
        out);
    got = keep(W * H);
    for (int i = 0; i < W * H; i++) {
        uchar4 v = bytes[i];
        ok &= got[i] == v.x + 2 * v.y + 4 * v.z + 8 * v.w + v.x + v.w;
    }

    // Three dimensions, and layers.
    cudaArray_t volume, layers;
    CHECK(cudaMalloc3DArray(&volume, &desc, make_cudaExtent(W, H, D)));
    CHECK(cudaMalloc3DArray(&layers, &desc, make_cudaExtent(W, H, D), cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(image.data(), W * 4, W, H);
    copy.extent = make_cudaExtent(W, H, D);
    copy.kind = cudaMemcpyHostToDevice;
    copy.dstArray = volume;
    CHECK(cudaMemcpy3D(&copy));
    copy.dstArray = layers;
    CHECK(cudaMemcpy3D(&copy));
    fetch_3d<<<1, W * H * D>>>(texture(resource(volume), cudaFilterModePoint,
                                       cudaReadModeElementType, false, cudaAddressModeClamp),
                               texture(resource(layers), cudaFilterModePoint,
                                       cudaReadModeElementType, false, cudaAddressModeClamp),
                               out);
    got = keep(W * H * D);
    for (int i = 0; i < W * H * D; i++)
        ok &= got[i] == image[i] + 1000 * image[2 * W * H + i % (W * H)];
    CHECK(cudaFreeArray(a));
    return verdict("textures", ok, exact);
}
