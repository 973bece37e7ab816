// Cube maps: every texel of every face by its direction, directions between faces, filtering inside
// a face, layers of cubes, and surfaces of their faces.
#include "vgpu/tests/check.cuh"

const int N = 16, LAYERS = 3;

// @return the direction of a point on a face, with coordinates in -1 ... 1.
__host__ __device__ static float3 direction(int face, float u, float v)
{
    switch (face) {
    case 0:
        return make_float3(1, -v, -u);
    case 1:
        return make_float3(-1, -v, u);
    case 2:
        return make_float3(u, 1, v);
    case 3:
        return make_float3(u, -1, -v);
    case 4:
        return make_float3(u, -v, 1);
    default:
        return make_float3(-u, -v, -1);
    }
}

__global__ void read_texels(cudaTextureObject_t cube, cudaTextureObject_t layers, float *one,
                            float *many, float scale)
{
    int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
    float3 d = direction(face, (x + 0.5f) / N * 2 - 1, (y + 0.5f) / N * 2 - 1);
    int i = (face * N + y) * N + x;
    one[i] = texCubemap<float>(cube, scale * d.x, scale * d.y, scale * d.z);
    for (int l = 0; l < LAYERS; l++)
        many[l * 6 * N * N + i] = texCubemapLayered<float>(layers, d.x, d.y, d.z, l);
}

// Reads between four texels in the middle of a face, and a layer past the last.
__global__ void read_between(cudaTextureObject_t cube, cudaTextureObject_t layers, float *out)
{
    int face = threadIdx.x;
    float3 d = direction(face, 0.25f, -0.125f);
    out[face] = texCubemap<float>(cube, d.x, d.y, d.z);
    out[6 + face] = texCubemapLayered<float>(layers, d.x, d.y, d.z, LAYERS + 5);
}

// Reads the edge between two faces, points close to it, and a zero direction.
__global__ void read_edges(cudaTextureObject_t cube, float *out)
{
    float z[] = {-1, -0.99f, 0.99f, 1};
    for (int i = 0; i < 4; i++)
        out[i] = texCubemap<float>(cube, 1, 0, z[i]);
    out[4] = texCubemap<float>(cube, 1, 1, 0);
    out[5] = texCubemap<float>(cube, 0, 1, 1);
    out[6] = texCubemap<float>(cube, 0, 0, 0);
}

__global__ void write_faces(cudaSurfaceObject_t cube, cudaSurfaceObject_t layers, float value)
{
    int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
    float old;
    surfCubemapread(&old, cube, x * (int)sizeof(float), y, face);
    surfCubemapwrite(old + value, cube, x * (int)sizeof(float), y, face);
    surfCubemapLayeredwrite(-old, layers, x * (int)sizeof(float), y, 6 * 2 + face);
}

struct Cube {
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    Cube(const std::vector<float> &texels, unsigned flags, cudaTextureFilterMode filter,
         cudaTextureAddressMode mode = cudaAddressModeClamp)
    {
        size_t slices = texels.size() / (N * N);
        cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
        CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(N, N, slices),
                                flags | cudaArrayCubemap | cudaArraySurfaceLoadStore));
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr((void *)texels.data(), N * sizeof(float), N, N);
        p.dstArray = array;
        p.extent = make_cudaExtent(N, N, slices);
        p.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&p));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc texture_desc = {};
        texture_desc.normalizedCoords = 1;
        texture_desc.filterMode = filter;
        texture_desc.addressMode[0] = texture_desc.addressMode[1] = mode;
        CHECK(cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
        CHECK(cudaCreateSurfaceObject(&surface, &resource));
    }
    ~Cube()
    {
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaDestroySurfaceObject(surface));
        CHECK(cudaFreeArray(array));
    }
};

static bool refuses(size_t width, size_t height, size_t depth, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    bool refused = cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth),
                                     flags | cudaArrayCubemap) == cudaErrorInvalidValue;
    cudaGetLastError();
    return refused;
}

// @return the mean of the four texels around the corner (x, y); if `wraps`, the last texel is
// beside the first.
static float around(const std::vector<float> &texels, int face, int x, int y, bool wraps)
{
    float sum = 0;
    for (int dy = -1; dy < 1; dy++)
        for (int dx = -1; dx < 1; dx++) {
            int i = x + dx, j = y + dy;
            i = wraps ? (i + N) % N : i < 0 ? 0 : i >= N ? N - 1 : i;
            j = wraps ? (j + N) % N : j < 0 ? 0 : j >= N ? N - 1 : j;
            sum += texels[(face * N + j) * N + i] / 4;
        }
    return sum;
}

// If a direction's largest coordinates are equal, z selects the face, or else y. The address modes
// apply to each face.
static void check_edges(const std::vector<float> &texels, bool wraps)
{
    const cudaTextureAddressMode mode = wraps ? cudaAddressModeWrap : cudaAddressModeClamp;
    Cube points(texels, 0, cudaFilterModePoint, mode),
        filtered(texels, 0, cudaFilterModeLinear, mode);
    Device<float> out(7);
    const int far = wraps ? 0 : N - 1, half = N / 2;
    const struct {
        int face, x, y, corner; // corner: x of the corner of texels there, -1: none
    } want[] = {{5, 0, half, 0},   {0, N - 1, half, -1}, {0, 0, half, -1},     {4, far, half, N},
                {2, far, half, N}, {4, half, 0, half},   {4, half, half, half}};
    read_edges<<<1, 1>>>(points.texture, out);
    LAUNCHED();
    std::vector<float> got = out.host();
    for (int i = 0; i < 7; i++)
        EXPECT(got[i] == texels[(want[i].face * N + want[i].y) * N + want[i].x]);
    read_edges<<<1, 1>>>(filtered.texture, out);
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 7; i++)
        EXPECT(want[i].corner < 0 ||
               got[i] == around(texels, want[i].face, want[i].corner, want[i].y, wraps));
}

int main()
{
    const int faces = 6 * N * N;
    std::vector<float> texels(faces), layers(faces * LAYERS);
    for (int i = 0; i < faces; i++)
        texels[i] = (float)(i * 7 % 1024);
    for (int i = 0; i < faces * LAYERS; i++)
        layers[i] = (float)(i * 3 % 2048);
    Device<float> one(faces), many(faces * LAYERS), between(12);
    Cube points(texels, 0, cudaFilterModePoint), filtered(texels, 0, cudaFilterModeLinear);
    Cube stack(layers, cudaArrayLayered, cudaFilterModePoint);
    std::vector<float> all;
    check_edges(texels, false);
    check_edges(texels, true);
    for (float scale : {1.0f, 0.25f, 100.0f}) {
        read_texels<<<6, dim3(N, N)>>>(points.texture, stack.texture, one, many, scale);
        LAUNCHED();
        EXPECT(one.host() == texels && many.host() == layers);
    }
    read_texels<<<6, dim3(N, N)>>>(filtered.texture, stack.texture, one, many, 1);
    LAUNCHED();
    std::vector<float> got = one.host();
    for (int i = 0; i < faces; i++)
        EXPECT(std::fabs(got[i] - texels[i]) < 1);

    read_between<<<1, 6>>>(filtered.texture, stack.texture, between);
    LAUNCHED();
    got = between.host();
    // u = 0.25 is x = 10.0, between texels 9 and 10; v = -0.125 is y = 7.0
    for (int f = 0; f < 6; f++) {
        EXPECT(got[f] == around(texels, f, 10, 7, false));
        EXPECT(got[6 + f] == layers[((6 * (LAYERS - 1) + f) * N + 7) * N + 10]);
    }
    all = got;

    write_faces<<<6, dim3(N, N)>>>(points.surface, stack.surface, 0.5f);
    LAUNCHED();
    read_texels<<<6, dim3(N, N)>>>(points.texture, stack.texture, one, many, 1);
    LAUNCHED();
    got = one.host();
    std::vector<float> deep = many.host();
    for (int i = 0; i < faces; i++) {
        EXPECT(got[i] == texels[i] + 0.5f);
        EXPECT(deep[faces + i] == layers[faces + i] && deep[2 * faces + i] == -texels[i]);
    }
    all.insert(all.end(), deep.begin(), deep.end());
    EXPECT(refuses(16, 8, 6, 0) && refuses(16, 16, 5, 0));
    EXPECT(refuses(16, 16, 12, 0));
    EXPECT(refuses(16, 16, 8, cudaArrayLayered));
    return verdict("cube_maps", true, all);
}
