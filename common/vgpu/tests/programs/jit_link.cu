// nvJitLink: a kernel and a function that it calls, from two texts of PTX. The library's functions are looked up by the
// names in its header, which some toolkits lack.
#include "vgpu/tests/driver.cuh"

static const char kernel[] = R"(.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) square(.param .b32 x);
.visible .entry squares(.param .u64 to)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [to];
    mov.u32 %r0, %tid.x;
    {
        .param .b32 in;
        .param .b32 out;
        st.param.b32 [in], %r0;
        call (out), square, (in);
        ld.param.b32 %r1, [out];
    }
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
})";

static const char function[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) square(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [x];
    mul.lo.s32 %r1, %r0, %r0;
    st.param.b32 [r], %r1;
    ret;
})";

template <class... T> static int link(const char *name, T... arguments)
{
    void *library = dlopen("libnvJitLink.so.13", RTLD_NOW), *found = NULL;
    library = library ? library : dlopen("libnvJitLink.so.12", RTLD_NOW);
    for (int v = 0; v < 14 && !found; v++) { // 13.0 to 13.3, then 12.0 to 12.9
        char symbol[64];
        snprintf(symbol, sizeof symbol, "__nvJitLink%s_%d_%d", name, v < 4 ? 13 : 12,
                 v < 4 ? v : v - 4);
        found = dlsym(library, symbol);
    }
    EXPECT(found);
    return ((int (*)(T...))found)(arguments...);
}

int main()
{
    enum { PTX = 2, MISSING_ARCH = 2, NULL_INPUT = 10 };
    const char *const option = "-arch=sm_90", *const other = "-lto";
    void *handle;
    size_t bytes;
    CUmodule module;
    CUfunction squares;
    CHECK(cudaFree(0));
    EXPECT(link("Create", &handle, 0u, (const char *const *)NULL) == NULL_INPUT);
    EXPECT(link("Create", &handle, 1u, &other) == MISSING_ARCH);
    EXPECT(link("Create", &handle, 1u, &option) == 0);
    EXPECT(link("AddData", handle, (int)PTX, (const void *)kernel, sizeof kernel, "kernel") == 0);
    EXPECT(link("AddData", handle, (int)PTX, (const void *)function, sizeof function, "") == 0);
    EXPECT(link("Complete", handle) == 0);
    EXPECT(link("GetLinkedCubinSize", handle, &bytes) == 0 && bytes > 0);
    std::vector<char> linked(bytes);
    EXPECT(link("GetLinkedCubin", handle, (void *)linked.data()) == 0);
    EXPECT(link("Destroy", &handle) == 0 && !handle);
    DO(cuModuleLoadData, &module, linked.data());
    DO(cuModuleGetFunction, &squares, module, "squares");
    Device<int> d(64);
    int *to = d;
    void *parameters[] = {&to};
    DO(cuLaunchKernel, squares, 1, 1, 1, 64, 1, 1, 0, 0, parameters, NULL);
    LAUNCHED();
    const std::vector<int> got = d.host();
    bool ok = true;
    for (int i = 0; i < 64; i++)
        ok &= got[i] == i * i;
    return verdict("jit_link", ok, got);
}
