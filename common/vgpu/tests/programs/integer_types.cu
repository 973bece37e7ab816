// Integers of all sizes: loads and stores, extension, wrapping, shifts, comparisons, conversions.
#include "vgpu/tests/check.cuh"

template <class T> __global__ void work(const T *in, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T a = in[i], b = in[(i + 1) % n];
    out[i * 8] = (T)(a + b), out[i * 8 + 1] = (T)(a - b), out[i * 8 + 2] = (T)(a * b);
    out[i * 8 + 3] = (T)(a >> (b & 7)), out[i * 8 + 4] = (T)(a << (b & 7)),
                out[i * 8 + 5] = a < b ? a : b;
    out[i * 8 + 6] = (T)(float)(signed char)a, out[i * 8 + 7] = (T)(~a ^ (b | 1));
}

template <class T> static bool run(uint64_t *sum)
{
    Random random(34);
    std::vector<T> in = {0, 1, (T)-1, (T)127, (T)-128, (T)0x7fff, (T)0x8000};
    for (int i = 0; i < 120; i++)
        in.push_back((T)((uint64_t)random.bits() << 32 | random.bits()));
    int n = (int)in.size();
    Device<T> din(in), dout((size_t)n * 8);
    work<T><<<1, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<T> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        T a = in[i], b = in[(i + 1) % n];
        uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
        const T *o = &out[(size_t)i * 8];
        ok &= o[0] == (T)(ua + ub) && o[1] == (T)(ua - ub) && o[2] == (T)(ua * ub);
        ok &= o[3] == (T)(a >> (b & 7)) && o[4] == (T)(ua << (b & 7)) && o[5] == (a < b ? a : b);
        ok &= (std::is_unsigned<T>::value && (signed char)a < 0) || o[6] == (T)(signed char)a;
        ok &= o[7] == (T)(~a ^ (b | 1));
        for (int k = 0; k < 6; k++)
            *sum = *sum * 31 + (uint64_t)o[k];
    }
    return ok;
}

int main()
{
    uint64_t sum = 0;
    bool ok = run<signed char>(&sum) & run<unsigned char>(&sum) & run<short>(&sum) &
              run<unsigned short>(&sum) & run<int>(&sum) & run<unsigned>(&sum) &
              run<long long>(&sum) & run<unsigned long long>(&sum);
    return verdict("integer_types", ok, std::vector<uint64_t>{sum});
}
