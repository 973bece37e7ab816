// Vector loads and stores of 2, 4, 8 and 16 bytes, unaligned structures, read-only loads.
#include "vgpu/tests/check.cuh"

__global__ void work(const float4 *__restrict__ f, const uchar4 *__restrict__ c, const double2 *d,
                     const short2 *s, float4 *out, uchar4 *cout)
{
    int i = threadIdx.x;
    float4 v = __ldg(&f[i]);
    uchar4 b = c[i];
    double2 e = d[i];
    short2 h = s[i];
    out[i] = make_float4(v.w + (float)e.x, v.z + h.x, v.y + h.y, v.x + (float)e.y);
    cout[i] = make_uchar4(b.w, (unsigned char)(b.z + 1), b.y, (unsigned char)~b.x);
    ((volatile float2 *)out)[2 * i].x += 1;
}

int main()
{
    const int n = 64;
    Random random(35);
    std::vector<float4> f(n);
    std::vector<uchar4> c(n);
    std::vector<double2> d(n);
    std::vector<short2> s(n);
    for (int i = 0; i < n; i++) {
        f[i] = make_float4(random.exact(), random.exact(), random.exact(), random.exact());
        c[i] = make_uchar4((unsigned char)i, 2, (unsigned char)random.below(256), 9);
        d[i] = make_double2(random.exact(), random.exact());
        s[i] = make_short2((short)(i - 30), (short)(i * 100));
    }
    Device<float4> df(f), out(n);
    Device<uchar4> dc(c), cout(n);
    Device<double2> dd(d);
    Device<short2> ds(s);
    work<<<1, n>>>(df, dc, dd, ds, out, cout);
    LAUNCHED();
    std::vector<float4> o = out.host();
    std::vector<uchar4> b = cout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok &= o[i].x == f[i].w + (float)d[i].x + 1 && o[i].y == f[i].z + s[i].x;
        ok &= o[i].z == f[i].y + s[i].y && o[i].w == f[i].x + (float)d[i].y;
        ok &= b[i].x == 9 && b[i].y == (unsigned char)(c[i].z + 1) &&
              b[i].w == (unsigned char)~c[i].x;
    }
    return verdict("vector_types", ok, o);
}
