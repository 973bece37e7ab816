// Mipmaps: levels that kernels make from each other, then textures of all levels, at a level or with
// gradients; filters, bias and clamps of levels; layers, cubes and volumes. The levels that an H200
// selects were measured.
#include "vgpu/tests/check.cuh"

const int W = 16, H = 8, N = 12;

__global__ void shrink(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    const int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += tex2D<float>(from, 2 * x + i % 2 + 0.5f, 2 * y + i / 2 + 0.5f);
    surf2Dwrite(sum / 4, to, x * 4, y);
}

__global__ void at_levels(cudaTextureObject_t t, const float *level, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, 0.03f, 0.5f, level[threadIdx.x]);
}

__global__ void at_gradients(cudaTextureObject_t t, const float *change, float *out)
{
    const float c = change[threadIdx.x];
    out[threadIdx.x] = tex2DGrad<float>(t, 0.03f, 0.5f, make_float2(c, 0),
                                        make_float2(0, threadIdx.x % 2 ? 0 : c));
}

__global__ void at_no_level(cudaTextureObject_t t, float *out)
{
    *out = tex2D<float>(t, 0.03f, 0.5f);
}

__global__ void other_shapes(cudaTextureObject_t layers, cudaTextureObject_t cube,
                             cudaTextureObject_t volume, float *out)
{
    const int i = threadIdx.x;
    out[3 * i] = tex2DLayeredLod<float>(layers, 0.6f, 0.6f, 1, i);
    out[3 * i + 1] = texCubemapLod<float>(cube, 0.1f, -1, 0.1f, i);
    out[3 * i + 2] = tex3DLod<float>(volume, 0.6f, 0.6f, 0.6f, i);
}

static cudaTextureObject_t texture(cudaMipmappedArray_t m, cudaTextureDesc d)
{
    cudaResourceDesc r = {};
    cudaTextureObject_t t;
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    d.normalizedCoords = 1;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static cudaTextureDesc descriptor(cudaTextureFilterMode levels, float bias, float low, float high)
{
    cudaTextureDesc d = {};
    d.mipmapFilterMode = levels;
    d.mipmapLevelBias = bias;
    d.minMipmapLevelClamp = low;
    d.maxMipmapLevelClamp = high;
    return d;
}

static cudaResourceDesc resource(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

static cudaMipmappedArray_t mipmap(cudaExtent e, unsigned levels, unsigned flags)
{
    const cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t m;
    CHECK(cudaMallocMipmappedArray(&m, &d, e, levels, flags));
    return m;
}

static cudaArray_t level_of(cudaMipmappedArray_t m, unsigned level, cudaExtent *e)
{
    cudaChannelFormatDesc d;
    unsigned flags;
    cudaArray_t a;
    CHECK(cudaGetMipmappedArrayLevel(&a, m, level));
    CHECK(cudaArrayGetInfo(&d, e, &flags, a));
    return a;
}

// Each texel of a level has the value first + step * level.
static void fill(cudaMipmappedArray_t m, unsigned levels, float first, float step)
{
    for (unsigned l = 0; l < levels; l++) {
        cudaExtent e;
        cudaMemcpy3DParms p = {};
        p.dstArray = level_of(m, l, &e);
        e.depth = e.depth ? e.depth : 1;
        std::vector<float> values(e.width * e.height * e.depth, first + step * l);
        p.srcPtr = make_cudaPitchedPtr(values.data(), e.width * 4, e.width, e.height);
        p.extent = e;
        p.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&p));
    }
}

// Compares the levels that a texture selects with measured ones, in hundredths.
template <class Kernel>
static void expect(Kernel kernel, cudaMipmappedArray_t m, cudaTextureDesc d, const float *at,
                   const float *want)
{
    Device<float> in(std::vector<float>(at, at + N)), out(N);
    const cudaTextureObject_t t = texture(m, d);
    kernel<<<1, N>>>(t, in, out);
    const std::vector<float> got = out.host();
    for (int i = 0; i < N; i++)
        if (!close(got[i], want[i], 1e-4)) {
            printf("FAIL mipmaps: at %g: got %g, expected %g\n", at[i], got[i], want[i]);
            exit(1);
        }
    CHECK(cudaDestroyTextureObject(t));
}

static void selected_levels()
{
    static const float levels[N] = {-1, 0, .25f, .49f, .5f, .51f, 1, 1.3f, 1.5f, 2.5f, 3.7f, 9};
    static const float nearest[N] = {0, 0, 0, 0, 100, 100, 100, 100, 200, 300, 400, 400};
    static const float linear[N] = {0,   0,        25,  48.8281f, 50,       50.7812f,
                                    100, 129.688f, 150, 250,      369.922f, 400};
    static const float biased[N] = {0,        59.7656f, 84.7656f, 108.594f, 109.766f, 110.547f,
                                    159.766f, 189.453f, 209.766f, 309.766f, 400,      400};
    static const float clamped[N] = {79.6875f, 79.6875f, 79.6875f, 79.6875f, 79.6875f, 79.6875f,
                                     100,      129.688f, 150,      229.688f, 229.688f, 229.688f};
    static const float zeros[N] = {0};
    static const float changes[N] = {1 / 16.f, 1 / 8.f, 1 / 11.f, 0.5f, 0, 9,
                                     1 / 16.f, 1 / 8.f, 1 / 11.f, 0.5f, 0, 9};
    static const float steep[N] = {0, 100, 53.9062f, 300, 0, 400, 0, 100, 53.9062f, 300, 0, 400};
    const cudaMipmappedArray_t m = mipmap(make_cudaExtent(W, H, 0), 9, 0);
    cudaArray_t none;
    EXPECT(cudaGetMipmappedArrayLevel(&none, m, 5) == cudaErrorInvalidValue);
    cudaGetLastError();
    fill(m, 5, 0, 100);
    const auto filter = cudaFilterModeLinear;
    expect(at_levels, m, descriptor(cudaFilterModePoint, 0, 0, 99), levels, nearest);
    expect(at_levels, m, descriptor(filter, 0, 0, 99), levels, linear);
    expect(at_levels, m, descriptor(filter, 0.6f, 0, 99), levels, biased);
    expect(at_levels, m, descriptor(filter, 0, 0.8f, 2.3f), levels, clamped);
    expect(at_levels, m, descriptor(filter, 0, 0, 0), levels, zeros);
    expect(at_gradients, m, descriptor(filter, 0, 0, 99), changes, steep);
    Device<float> out(1);
    for (int clamped = 0; clamped < 2; clamped++) { // the bias has no effect
        const cudaTextureObject_t t = texture(m, descriptor(filter, 0.6f, clamped * 0.8f, 99));
        at_no_level<<<1, 1>>>(t, out);
        EXPECT(close(out.host()[0], clamped ? 79.6875 : 0, 1e-4));
        CHECK(cudaDestroyTextureObject(t));
    }
    CHECK(cudaFreeMipmappedArray(m));
}

static std::vector<float> made_by_kernels()
{
    const cudaMipmappedArray_t m = mipmap(make_cudaExtent(W, W, 0), 5, cudaArraySurfaceLoadStore);
    std::vector<float> image(W * W), averages(5);
    double sum = 0;
    for (int i = 0; i < W * W; i++)
        sum += image[i] = i * 7 % 64;
    cudaExtent e;
    CHECK(cudaMemcpy2DToArray(level_of(m, 0, &e), 0, 0, image.data(), 4 * W, 4 * W, W,
                              cudaMemcpyHostToDevice));
    for (int l = 1, w = W / 2; l < 5; l++, w /= 2) {
        const cudaResourceDesc above = resource(level_of(m, l - 1, &e));
        const cudaResourceDesc level = resource(level_of(m, l, &e));
        EXPECT((int)e.width == w && (int)e.height == w && e.depth == 0);
        const cudaTextureDesc d = {};
        cudaTextureObject_t from;
        cudaSurfaceObject_t to;
        CHECK(cudaCreateTextureObject(&from, &above, &d, nullptr));
        CHECK(cudaCreateSurfaceObject(&to, &level));
        shrink<<<1, dim3(w, w)>>>(from, to);
        LAUNCHED();
        CHECK(cudaDestroyTextureObject(from));
        CHECK(cudaDestroySurfaceObject(to));
    }
    CHECK(cudaMemcpy2DFromArray(&averages[4], 4, level_of(m, 4, &e), 0, 0, 4, 1,
                                cudaMemcpyDeviceToHost));
    EXPECT(averages[4] == (float)(sum / (W * W)));
    const cudaTextureObject_t t = texture(m, descriptor(cudaFilterModePoint, 0, 0, 99));
    Device<float> level(std::vector<float>{0, 1, 2, 3, 4}), out(5);
    at_levels<<<1, 5>>>(t, level, out);
    averages = out.host();
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeMipmappedArray(m));
    return averages;
}

static void shapes()
{
    const cudaMipmappedArray_t m[3] = {mipmap(make_cudaExtent(8, 8, 3), 4, cudaArrayLayered),
                                       mipmap(make_cudaExtent(8, 8, 6), 4, cudaArrayCubemap),
                                       mipmap(make_cudaExtent(8, 4, 8), 4, 0)};
    cudaTextureObject_t t[3];
    for (int i = 0; i < 3; i++) {
        fill(m[i], 4, 1000 * i, 10);
        t[i] = texture(m[i], descriptor(cudaFilterModePoint, 0, 0, 99));
    }
    cudaExtent e;
    level_of(m[0], 2, &e);
    EXPECT(e.width == 2 && e.height == 2 && e.depth == 3);
    level_of(m[2], 3, &e);
    EXPECT(e.width == 1 && e.height == 1 && e.depth == 1);
    Device<float> out(12);
    other_shapes<<<1, 4>>>(t[0], t[1], t[2], out);
    const std::vector<float> got = out.host();
    for (int i = 0; i < 12; i++)
        EXPECT(got[i] == 1000 * (i % 3) + 10 * (i / 3));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaDestroyTextureObject(t[i]));
        CHECK(cudaFreeMipmappedArray(m[i]));
    }
}

int main()
{
    selected_levels();
    shapes();
    return verdict("mipmaps", true, made_by_kernels());
}
