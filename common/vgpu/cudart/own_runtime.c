/* Programs that carry NVIDIA's runtime in themselves, as nvcc links by default. vgpu-run preloads this
 * library; before any code of the program runs, the first bytes of each runtime function in it become a
 * jump to the function here. The program's symbol table names them: they are not exported. */
#include "vgpu/cudart/shim.h"

#include "vgpu/fatbin/elf_sections.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* jmp *0(%rip), and the address behind it. Functions begin at multiples of 16. */
struct jump {
    unsigned char code[6];
    unsigned char to[8];
};

enum { ALIGNMENT = 16 };

struct patches {
    void *library;       /* this one */
    const char *version; /* of the names: the program's runtime is of CUDA 12 or 13 */
    uintptr_t base, low, high;
    bool is_writing;
};

static void patch(struct patches *p, const char *name, const Elf64_Sym *symbol)
{
    const uintptr_t at = p->base + symbol->st_value;
    void *const ours = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && at % ALIGNMENT == 0
                           ? dlvsym(p->library, name, p->version)
                           : NULL;
    if (!ours)
        return;
    p->low = at < p->low ? at : p->low;
    p->high = at > p->high ? at : p->high;
    if (!p->is_writing)
        return;
    struct jump jump = {.code = {0xff, 0x25}};
    memcpy(jump.to, &ours, sizeof jump.to);
    memcpy((void *)at, &jump, sizeof jump);
}

static void patch_each(const char *name, const Elf64_Sym *symbol, void *context)
{
    if (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0)
        patch(context, name, symbol);
}

/* CUDA 13 has no function of this name, and each program with the runtime of CUDA 12 has it. */
static void find_version(const char *name, const Elf64_Sym *symbol, void *context)
{
    (void)symbol;
    struct patches *const p = context;
    if (strcmp(name, "cudaGetDeviceProperties_v2") == 0)
        p->version = "libcudart.so.12";
}

static int find_base(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes;
    *(uintptr_t *)context = info->dlpi_addr; /* the first object is the program */
    return 1;
}

static void take_over(void);

static void patch_image(const void *image, size_t bytes)
{
    Dl_info self;
    struct elf_file program;
    struct patches p = {.version = "libcudart.so.13", .low = UINTPTR_MAX};
    if (!elf_open(&program, image, bytes) || !dladdr((void *)(uintptr_t)take_over, &self))
        return;
    p.library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    dl_iterate_phdr(find_base, &p.base);
    elf_symbols_each(&program, find_version, &p);
    elf_symbols_each(&program, patch_each, &p);
    if (!p.library || p.low > p.high)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = p.low / page * page;
    void *const text = (void *)from;
    const size_t n = p.high + sizeof(struct jump) - from;
    if (mprotect(text, n, PROT_READ | PROT_WRITE))
        return;
    p.is_writing = true;
    elf_symbols_each(&program, patch_each, &p);
    mprotect(text, n, PROT_READ | PROT_EXEC);
}

static __attribute__((constructor)) void take_over(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    if (!preloaded || !strstr(preloaded, "libcudart.so.13"))
        return;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat file;
    if (fd >= 0 && fstat(fd, &file) == 0 && file.st_size > 0) {
        void *image = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (image != MAP_FAILED) {
            patch_image(image, (size_t)file.st_size);
            munmap(image, (size_t)file.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
}
