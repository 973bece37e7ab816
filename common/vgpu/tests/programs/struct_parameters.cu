// Parameters by value: a large structure, mixed sizes and alignments, an array member.
#include "vgpu/tests/check.cuh"

struct Big {
    char tag;
    double d[20];
    short s;
    struct {
        unsigned char a, b;
        float f;
    } inner[5];
    long long last;
};

__global__ void work(char c, Big big, short s, double d, const Big *from, float3 v, double *out)
{
    int t = threadIdx.x;
    if (t < 20)
        out[t] = big.d[t] * d + big.inner[t % 5].f + big.inner[t % 5].b + s + c + v.y;
    if (t == 20)
        out[t] = (double)(big.last + from->last) + big.tag + big.s;
}

int main()
{
    Big big = {};
    big.tag = 'x', big.s = -7, big.last = 1LL << 40;
    for (int i = 0; i < 20; i++)
        big.d[i] = i * 0.25;
    for (int i = 0; i < 5; i++)
        big.inner[i].a = 1, big.inner[i].b = (unsigned char)(200 + i), big.inner[i].f = i * 1.5f;
    Device<Big> dbig(std::vector<Big>{big});
    Device<double> dout(21);
    work<<<1, 32>>>((char)-3, big, (short)300, 2.0, dbig, make_float3(1, 2, 3), dout);
    LAUNCHED();
    std::vector<double> out = dout.host();
    bool ok = out[20] == (double)(2LL << 40) + 'x' - 7;
    for (int i = 0; i < 20; i++)
        ok &= out[i] == big.d[i] * 2 + i % 5 * 1.5 + 200 + i % 5 + 300 - 3 + 2;
    return verdict("struct_parameters", ok, out);
}
