// NVRTC: machine code for a GPU, which the virtual GPU replaces by its PTX, and PTX; of a template
// that is found by its lowered name.
// nvcc: -cudart static
#include "vgpu/tests/driver.cuh"

#include <string>

const int N = 1000;

static const char source[] = R"(
template <typename T>
__global__ void scale(T *y, const T *x, T factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = factor * x[i];
}
)";

// NVRTC's functions, by name: some toolkits lack its header.
struct Compiler {
    void *library;
    Compiler()
    {
        library = dlopen("libnvrtc.so.13", RTLD_NOW);
        library = library ? library : dlopen("libnvrtc.so.12", RTLD_NOW);
        library = library ? library : dlopen("libnvrtc.so", RTLD_NOW);
    }
    template <class... T> void call(const char *name, T... arguments)
    {
        const auto f = (int (*)(T...))dlsym(library, name);
        EXPECT(f && f(arguments...) == 0);
    }
    std::vector<char> compile(bool machine_code, std::string *name)
    {
        int major, minor;
        CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
        CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
        const std::string architecture = std::string("--gpu-architecture=") +
                                         (machine_code ? "sm_" : "compute_") +
                                         std::to_string(10 * major + minor);
        const char *const option = architecture.c_str();
        void *program;
        const char *lowered;
        size_t bytes;
        call("nvrtcCreateProgram", &program, (const char *)source, "scale.cu", 0, nullptr, nullptr);
        call("nvrtcAddNameExpression", program, "scale<float>");
        call("nvrtcCompileProgram", program, 1, &option);
        call("nvrtcGetLoweredName", program, "scale<float>", &lowered);
        *name = lowered;
        call(machine_code ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize", program, &bytes);
        std::vector<char> code(bytes);
        call(machine_code ? "nvrtcGetCUBIN" : "nvrtcGetPTX", program, code.data());
        call("nvrtcDestroyProgram", &program);
        return code;
    }
};

int main()
{
    Compiler compiler;
    std::vector<float> x(N), y(N);
    for (int i = 0; i < N; i++)
        x[i] = i * 0.5f;
    Device<float> d_x(x), d_y(N);
    for (int machine_code = 0; machine_code < 2 && compiler.library; machine_code++) {
        std::string name;
        const std::vector<char> code = compiler.compile(machine_code, &name);
        CUmodule module;
        CUfunction scale;
        DO(cuModuleLoadData, &module, code.data());
        DO(cuModuleGetFunction, &scale, module, name.c_str());
        float *to = d_y, *from = d_x, factor = 3 + machine_code;
        int n = N;
        void *arguments[] = {&to, &from, &factor, &n};
        DO(cuLaunchKernel, scale, (N + 127) / 128, 1, 1, 128, 1, 1, 0, 0, arguments, NULL);
        y = d_y.host();
        for (int i = 0; i < N; i++)
            EXPECT(y[i] == factor * x[i]);
        DO(cuModuleUnload, module);
    }
    return compiler.library ? verdict("nvrtc", true, y) : verdict("nvrtc: no NVRTC here", true);
}
