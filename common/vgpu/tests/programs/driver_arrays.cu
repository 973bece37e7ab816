// Arrays, mipmaps, textures and surfaces of the driver API, with copies of lines, rows and slices.
#include "vgpu/tests/driver.cuh"

const int W = 12, H = 5, D = 3;

__global__ void read_2d(cudaTextureObject_t t, float *out)
{
    const int x = threadIdx.x, y = threadIdx.y;
    out[y * W + x] = tex2D<float>(t, (x + 0.5f) / W, (y + 0.5f) / H);
}

__global__ void read_3d(cudaTextureObject_t t, int *out)
{
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * H + y) * W + x] = tex3D<int>(t, x, y, z);
}

__global__ void reverse(cudaSurfaceObject_t s)
{
    const short v = surf1Dread<short>(s, 2 * threadIdx.x);
    __syncthreads();
    surf1Dwrite(v, s, 2 * (W - 1 - threadIdx.x));
}

__global__ void read_level(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x);
}

static CUDA_ARRAY3D_DESCRIPTOR shape(size_t w, size_t h, size_t d, CUarray_format format)
{
    CUDA_ARRAY3D_DESCRIPTOR s = {};
    s.Width = w, s.Height = h, s.Depth = d;
    s.Format = format;
    s.NumChannels = 1;
    return s;
}

static CUDA_RESOURCE_DESC resource_of(CUarray a)
{
    CUDA_RESOURCE_DESC r = {};
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
}

// Bytes, read as fractions, at normalised coordinates.
static void two_dimensions(CUdeviceptr out)
{
    CUDA_ARRAY_DESCRIPTOR d = {W, H, CU_AD_FORMAT_UNSIGNED_INT8, 1}, got = {};
    CUarray a;
    CUtexObject t;
    unsigned char image[H][2 * W], back[H][W];
    float read[H][W];
    for (int i = 0; i < H * W; i++)
        image[i / W][i % W] = (unsigned char)(i * 4);
    DO(cuArrayCreate, &a, &d);
    DO(cuArrayGetDescriptor, &got, a);
    EXPECT(got.Width == W && got.Height == H && got.Format == d.Format && got.NumChannels == 1);
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = image;
    c.srcPitch = sizeof image[0];
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.WidthInBytes = W;
    c.Height = H;
    DO(cuMemcpy2D, &c);
    CUDA_RESOURCE_DESC r = resource_of(a);
    CUDA_TEXTURE_DESC fractions = {};
    fractions.flags = CU_TRSF_NORMALIZED_COORDINATES;
    DO(cuTexObjectCreate, &t, &r, &fractions, NULL);
    read_2d<<<1, dim3(W, H)>>>(t, (float *)out);
    DO(cuMemcpyDtoH, read, out, sizeof read);
    CUDA_MEMCPY2D rows = {};
    rows.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    rows.srcArray = a;
    rows.srcY = 1;
    rows.dstMemoryType = CU_MEMORYTYPE_HOST;
    rows.dstHost = back;
    rows.WidthInBytes = W;
    rows.Height = H - 1;
    DO(cuMemcpy2D, &rows);
    for (int i = 0; i < H * W; i++) {
        EXPECT(read[i / W][i % W] == image[i / W][i % W] / 255.0f);
        EXPECT(i < W || back[i / W - 1][i % W] == image[i / W][i % W]);
    }
    DO(cuTexObjectDestroy, t);
    DO(cuArrayDestroy, a);
}

// Integers, copied to a part of the slices.
static void three_dimensions(CUdeviceptr out)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = shape(W, H, D, CU_AD_FORMAT_SIGNED_INT32);
    CUDA_ARRAY3D_DESCRIPTOR got = {};
    CUarray a;
    CUtexObject t;
    static int image[D][H][W], read[D][H][W], back[D][H][W];
    for (int i = 0; i < D * H * W; i++)
        image[i / W / H][i / W % H][i % W] = i - 50;
    DO(cuArray3DCreate, &a, &d);
    DO(cuArray3DGetDescriptor, &got, a);
    EXPECT(got.Depth == D && got.Format == d.Format);
    for (int z = 0; z < D; z += 2) { // slices 0 and 1, then slice 2
        CUDA_MEMCPY3D c = {};
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = image;
        c.srcPitch = sizeof image[0][0];
        c.srcHeight = H;
        c.srcZ = z;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
        c.dstZ = z;
        c.WidthInBytes = sizeof image[0][0];
        c.Height = H;
        c.Depth = z ? 1 : 2;
        DO(cuMemcpy3D, &c);
    }
    CUDA_RESOURCE_DESC r = resource_of(a);
    CUDA_TEXTURE_DESC texels = {};
    DO(cuTexObjectCreate, &t, &r, &texels, NULL);
    read_3d<<<1, dim3(W, H, D)>>>(t, (int *)out);
    DO(cuMemcpyDtoH, read, out, sizeof read);
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = a;
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = back;
    c.dstPitch = sizeof back[0][0];
    c.dstHeight = H;
    c.WidthInBytes = sizeof back[0][0];
    c.Height = H;
    c.Depth = D;
    DO(cuMemcpy3D, &c);
    EXPECT(memcmp(read, image, sizeof image) == 0 && memcmp(back, image, sizeof image) == 0);
    DO(cuTexObjectDestroy, t);
    DO(cuArrayDestroy, a);
}

static void lines(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = shape(W, 0, 0, CU_AD_FORMAT_SIGNED_INT16);
    d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray a, b;
    CUsurfObject s;
    short line[W], back[W];
    for (int i = 0; i < W; i++)
        line[i] = (short)(100 * i);
    DO(cuArray3DCreate, &a, &d);
    DO(cuArray3DCreate, &b, &d);
    DO(cuMemcpyHtoA, a, 0, line, 2 * W);
    DO(cuMemcpyAtoA, b, 4, a, 4, 2 * W - 4);
    DO(cuMemcpyHtoA, b, 0, line, 4);
    CUDA_RESOURCE_DESC r = resource_of(b);
    DO(cuSurfObjectCreate, &s, &r);
    reverse<<<1, W>>>(s);
    DO(cuMemcpyAtoH, back, b, 2, 2 * W - 2);
    for (int i = 1; i < W; i++)
        EXPECT(back[i - 1] == line[W - 1 - i]);
    EXPECT(RESULT(cuMemcpyAtoH, back, b, 2, 2 * W) != CUDA_SUCCESS); // past the end
    DO(cuSurfObjectDestroy, s);
    DO(cuArrayDestroy, a);
    DO(cuArrayDestroy, b);
}

static std::vector<float> levels(CUdeviceptr out)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = shape(4, 4, 0, CU_AD_FORMAT_FLOAT);
    CUmipmappedArray m;
    CUtexObject t;
    std::vector<float> read(3), values(16);
    DO(cuMipmappedArrayCreate, &m, &d, 3);
    for (unsigned l = 0; l < 3; l++) {
        CUarray a;
        CUDA_MEMCPY2D c = {};
        values.assign(16, l + 1.5f);
        DO(cuMipmappedArrayGetLevel, &a, m, l);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = values.data();
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
        c.WidthInBytes = sizeof(float) << (2 - l);
        c.Height = (size_t)1 << (2 - l);
        DO(cuMemcpy2D, &c);
    }
    CUDA_RESOURCE_DESC r = {};
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = m;
    CUDA_TEXTURE_DESC all = {};
    all.flags = CU_TRSF_NORMALIZED_COORDINATES;
    all.maxMipmapLevelClamp = 2;
    DO(cuTexObjectCreate, &t, &r, &all, NULL);
    read_level<<<1, 3>>>(t, (float *)out);
    DO(cuMemcpyDtoH, read.data(), out, 3 * sizeof(float));
    EXPECT(read[0] == 1.5f && read[1] == 2.5f && read[2] == 3.5f);
    DO(cuTexObjectDestroy, t);
    DO(cuMipmappedArrayDestroy, m);
    return read;
}

// A kernel of the program, launched by the driver.
static void by_symbol(CUdeviceptr out)
{
    cudaFunction_t f;
    CUmodule module;
    CUsurfObject s;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(W, 0, 0, CU_AD_FORMAT_SIGNED_INT16);
    d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray a;
    short line[W], back[W];
    for (int i = 0; i < W; i++)
        line[i] = (short)i;
    DO(cuArray3DCreate, &a, &d);
    DO(cuMemcpyHtoA, a, 0, line, 2 * W);
    CUDA_RESOURCE_DESC r = resource_of(a);
    DO(cuSurfObjectCreate, &s, &r);
    CHECK(cudaGetFuncBySymbol(&f, (const void *)reverse));
    DO(cuFuncGetModule, &module, (CUfunction)f);
    void *arguments[] = {&s};
    DO(cuLaunchKernel, (CUfunction)f, 1, 1, 1, W, 1, 1, 0, NULL, arguments, NULL);
    DO(cuMemcpyAtoD, out, a, 0, 2 * W);
    DO(cuMemcpyPeer, out + 1024, NULL, out, NULL, 2 * W);
    DO(cuMemcpyDtoH, back, out + 1024, 2 * W);
    for (int i = 0; i < W; i++)
        EXPECT(back[i] == line[W - 1 - i]);
    DO(cuSurfObjectDestroy, s);
    DO(cuArrayDestroy, a);
}

int main()
{
    CUdeviceptr out;
    CHECK(cudaMalloc((void **)&out, 4096));
    two_dimensions(out);
    three_dimensions(out);
    lines();
    by_symbol(out);
    const std::vector<float> read = levels(out);
    CHECK(cudaFree((void *)out));
    return verdict("driver_arrays", true, read);
}
