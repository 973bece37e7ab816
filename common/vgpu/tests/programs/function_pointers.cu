// Indirect calls: tables of device functions, and virtual functions of objects made on the device.
#include "vgpu/tests/check.cuh"

typedef int (*Operation)(int, int);

__device__ __noinline__ int plus(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int minus(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int times(int a, int b)
{
    return a * b;
}
__device__ Operation table[3] = {plus, minus, times};

struct Shape {
    __device__ virtual int area() const
    {
        return 0;
    }
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s)
    {
    }
    __device__ int area() const override
    {
        return side * side;
    }
};
struct Strip : Shape {
    int length;
    __device__ explicit Strip(int l) : length(l)
    {
    }
    __device__ int area() const override
    {
        return length * 2;
    }
};

__global__ void work(int *out)
{
    int t = threadIdx.x;
    Square square(t);
    Strip strip(t);
    const Shape *shape = t % 2 ? (const Shape *)&square : (const Shape *)&strip;
    out[t] = table[t % 3](t, 5) * 1000 + shape->area();
}

int main()
{
    Device<int> d(64);
    work<<<1, 64>>>(d);
    LAUNCHED();
    std::vector<int> out = d.host();
    bool ok = true;
    for (int t = 0; t < 64; t++) {
        int v = t % 3 == 0 ? t + 5 : t % 3 == 1 ? t - 5 : t * 5;
        ok &= out[t] == v * 1000 + (t % 2 ? t * t : 2 * t);
    }
    return verdict("function_pointers", ok, out);
}
