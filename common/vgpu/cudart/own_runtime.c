/* Programs and libraries that contain NVIDIA's runtime, which nvcc links by default. vgpu-run
 * preloads this library; before any code of such an object runs, the first bytes of each runtime
 * function in it become a jump to the function here. The functions are looked up in the object's
 * symbol table, because most are not exported. In the same way, the functions of NVRTC that return
 * machine code return its PTX instead. */
#include "vgpu/cudart/shim.h"

#include "vgpu/fatbin/elf_sections.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* jmp *0(%rip), and the address after it. Functions begin at multiples of 16. */
struct jump {
    unsigned char code[6];
    unsigned char to[8];
};

#ifdef __x86_64__
#define CAN_JUMP true
#else
#define CAN_JUMP false
#endif

enum { ALIGNMENT = 16, OBJECTS_MAX = 4096 };

static void *library; /* this library */

static void jump_write(uintptr_t at, const void *to)
{
    struct jump jump = {.code = {0xff, 0x25}};
    memcpy(jump.to, &to, sizeof jump.to);
    memcpy((void *)at, &jump, sizeof jump);
}

/* Makes the code between the first and the last jump writable, or executable again. */
static bool protect(uintptr_t first, uintptr_t last, int protection)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = first / page * page;
    return mprotect((void *)from, last + sizeof(struct jump) - from, protection) == 0;
}

/* ---- one object ----------------------------------------------------------------------------- */

struct patches {
    const char *version; /* version of the names, CUDA 12 or 13, as in the object's runtime */
    uintptr_t base, low, high;
    bool is_writing;
};

static void patch(struct patches *p, const char *name, const Elf64_Sym *symbol)
{
    const uintptr_t at = p->base + symbol->st_value;
    void *const ours = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
                               symbol->st_shndx != SHN_UNDEF && at % ALIGNMENT == 0
                           ? dlvsym(library, name, p->version)
                           : NULL;
    if (!ours)
        return;
    p->low = at < p->low ? at : p->low;
    p->high = at > p->high ? at : p->high;
    if (p->is_writing)
        jump_write(at, ours);
}

static void patch_each(const char *name, const Elf64_Sym *symbol, void *context)
{
    if (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0)
        patch(context, name, symbol);
}

/* Finds the version: every object with CUDA 12's runtime has this function, but CUDA 13 does
 * not. */
static void find_version(const char *name, const Elf64_Sym *symbol, void *context)
{
    (void)symbol;
    struct patches *const p = context;
    if (strcmp(name, "cudaGetDeviceProperties_v2") == 0)
        p->version = "libcudart.so.12";
}

static void symbols_each(const struct elf_file *object,
                         void (*visit)(const char *, const Elf64_Sym *, void *), struct patches *p)
{
    if (!elf_symbols_each(object, SHT_SYMTAB, visit, p))
        elf_symbols_each(object, SHT_DYNSYM, visit, p);
}

/* ---- NVRTC ---------------------------------------------------------------------------------- */

enum { NVRTC_PAIRS = 2 };
static const struct {
    const char *machine_code, *ptx;
} nvrtc_names[NVRTC_PAIRS] = {{"nvrtcGetCUBINSize", "nvrtcGetPTXSize"},
                              {"nvrtcGetCUBIN", "nvrtcGetPTX"}};

struct nvrtc {
    uintptr_t machine_code[NVRTC_PAIRS], ptx[NVRTC_PAIRS]; /* 0: the object does not have it */
};

static void find_nvrtc(const char *name, const Elf64_Sym *symbol, void *context)
{
    struct nvrtc *const n = context;
    for (int i = 0; i < NVRTC_PAIRS && symbol->st_shndx != SHN_UNDEF; i++)
        if (strcmp(name, nvrtc_names[i].machine_code) == 0)
            n->machine_code[i] = symbol->st_value;
        else if (strcmp(name, nvrtc_names[i].ptx) == 0)
            n->ptx[i] = symbol->st_value;
}

/* NVRTC keeps the PTX from which it makes machine code, with the same parameters for both. */
static void patch_nvrtc(const struct elf_file *object, uintptr_t base)
{
    struct nvrtc n = {{0}, {0}};
    if (!elf_symbols_each(object, SHT_SYMTAB, find_nvrtc, &n))
        elf_symbols_each(object, SHT_DYNSYM, find_nvrtc, &n);
    for (int i = 0; i < NVRTC_PAIRS; i++) {
        const uintptr_t at = base + n.machine_code[i];
        if (!n.machine_code[i] || !n.ptx[i] || at % ALIGNMENT ||
            !protect(at, at, PROT_READ | PROT_WRITE))
            continue;
        jump_write(at, (const void *)(base + n.ptx[i]));
        protect(at, at, PROT_READ | PROT_EXEC);
    }
}

/* ---- all of an object ----------------------------------------------------------------------- */

static bool is_preloaded;

static void patch_image(const void *image, size_t bytes, uintptr_t base)
{
    struct elf_file object;
    struct patches p = {.version = "libcudart.so.13", .base = base, .low = UINTPTR_MAX};
    if (!elf_open(&object, image, bytes))
        return;
    patch_nvrtc(&object, base);
    if (!is_preloaded)
        return;
    symbols_each(&object, find_version, &p);
    symbols_each(&object, patch_each, &p);
    if (p.low > p.high)
        return;
    if (!protect(p.low, p.high, PROT_READ | PROT_WRITE)) {
        static bool said;
        rt_say_once(&said, "NVIDIA's runtime inside this program cannot be replaced: its code "
                           "cannot be made writable (hint: link with nvcc -cudart shared)");
        return;
    }
    p.is_writing = true;
    symbols_each(&object, patch_each, &p);
    protect(p.low, p.high, PROT_READ | PROT_EXEC);
}

cudaError_t rt_file_map(const char *path, void **image, size_t *bytes)
{
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat file;
    if (fd < 0)
        return cudaErrorFileNotFound;
    *bytes = fstat(fd, &file) == 0 ? (size_t)file.st_size : 0;
    *image = *bytes ? mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    return *image == MAP_FAILED ? cudaErrorInvalidKernelImage : cudaSuccess;
}

static void patch_file(const char *path, uintptr_t base)
{
    void *image;
    size_t bytes;
    if (rt_file_map(path, &image, &bytes))
        return;
    patch_image(image, bytes, base);
    munmap(image, bytes);
}

/* ---- all objects, including later ones -------------------------------------------------- */

static uintptr_t seen[OBJECTS_MAX];
static size_t seen_count;

static int patch_object(struct dl_phdr_info *info, size_t bytes, void *own_base)
{
    (void)bytes;
    const uintptr_t base = info->dlpi_addr;
    if (!is_preloaded && !(info->dlpi_name && strstr(info->dlpi_name, "/libnvrtc.so")))
        return 0;
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i] == base)
            return 0;
    if (seen_count < OBJECTS_MAX)
        seen[seen_count++] = base;
    if (base != *(uintptr_t *)own_base)
        patch_file(info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe", base);
    return 0;
}

static void take_over(int n, char **arguments, char **environment);

static void patch_all(void)
{
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)take_over, &self))
        return;
    uintptr_t base = (uintptr_t)self.dli_fbase;
    if (!library)
        library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        dl_iterate_phdr(patch_object, &base);
}

/* The loader calls an empty function, for debuggers, after new objects are mapped and before their
 * code runs. */
static void loaded(void)
{
    if (_r_debug.r_state == RT_CONSISTENT)
        patch_all();
    if (_r_debug.r_state == RT_DELETE)
        seen_count = 0; /* another object may be loaded at this address later */
}

static bool is_empty_function(const unsigned char *code)
{
    static const unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = memcmp(code, landing, sizeof landing) == 0 ? sizeof landing : 0;
    bool is_empty = code[at++] == 0xc3;
    for (; at < sizeof(struct jump) && is_empty; at++) /* skip nops of any length */
        is_empty = memchr("\x66\x2e\x0f\x1f\x84\x80\x90\x44\x40\x00\xcc", code[at], 11) != NULL;
    return is_empty;
}

static void watch_loader(void)
{
    const uintptr_t at = _r_debug.r_brk;
    if (!at || at % ALIGNMENT || !is_empty_function((const unsigned char *)at) ||
        !protect(at, at, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    jump_write(at, (const void *)(uintptr_t)loaded);
    protect(at, at, PROT_READ | PROT_EXEC);
}

/* The linker marks this library to be initialised first (vgpu.mk), before libraries that register
 * their kernels. It runs even before libc is initialised. dlopen() then initialises libc with the
 * current `environ`, which is therefore set here, and without the program's name. Without preloading, the program needs no
 * replacement except in the libraries of NVRTC with which it was linked. */
static __attribute__((constructor)) void take_over(int n, char **arguments, char **environment)
{
    environ = environment;
    for (char **e = environment; *e; e++)
        is_preloaded |= strncmp(*e, "LD_PRELOAD=", 11) == 0 && strstr(*e, "libcudart.so.13");
    if (CAN_JUMP)
        patch_all();
    if (CAN_JUMP && is_preloaded)
        watch_loader();
    if (n > 0) {
        char *const slash = strrchr(arguments[0], '/');
        program_invocation_name = arguments[0];
        program_invocation_short_name = slash ? slash + 1 : arguments[0];
    }
}
