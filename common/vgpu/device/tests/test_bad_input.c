/* Programs that cannot be run: for each, the device process prints one clear line, returns the
 * runtime's CUDA error and continues to work. (program_check.c refuses programs before they start;
 * check.sh tests that.) */
#include "vgpu/device/tests/client.h"
#include "vgpu/fatbin/tests/image.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

TestSuite(bad_input, .init = device_start, .fini = device_end, .timeout = 60);

#define PTX_HEAD(version) ".version " version "\n.target sm_75\n.address_size 64\n"
static const char good[] =
    PTX_HEAD("9.0") ".visible .entry k() { ret; }\n"
                    ".visible .entry big() {\n.shared .b8 s[40960];\nret;\n}\n"
                    ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
                    "// .............................................\n";

#define DAMAGED(what, where)                                                                       \
    "virtual GPU: the program cannot run: the program's GPU code (fat binary) is damaged: " what   \
    ": offset " where " of the fat binary (hint: compile the program again)\n"

/* Loads an image and checks the error and the whole message. */
#define check_load(image, error, message)                                                          \
    do {                                                                                           \
        int fd_ = client();                                                                        \
        uint64_t module_;                                                                          \
        device_said();                                                                             \
        cr_assert_eq(client_load(fd_, (image).bytes, (image).n, &module_), error);                 \
        cr_assert_str_eq(device_said(), message);                                                  \
        close(fd_);                                                                                \
        is_alive();                                                                                \
    } while (0)

static struct image image_of(const char *ptx, enum fatbin_storage storage)
{
    struct image image;
    image_start(&image);
    image_add(&image, FATBIN_PTX, 75, ptx, strlen(ptx), storage, 0);
    return image;
}

Test(bad_input, machine_code_only)
{
    struct image image;
    image_start(&image);
    image_add(&image, FATBIN_ELF, 80, "cubin", 5, FATBIN_RAW, 0);
    check_load(image, VP_NO_IMAGE,
               "virtual GPU: the program cannot run: the program has no PTX for the virtual GPU: "
               "got machine code for sm_80 only (hint: compile with -arch=compute_75, or with "
               "-arch=sm_NN alone, not with -gencode ...,code=sm_NN)\n");
    free(image.bytes);
}

Test(bad_input, newer_ptx)
{
    struct image image = image_of(PTX_HEAD("10.0") ".visible .entry k() { ret; }\n", FATBIN_ZSTD);
    check_load(
        image, VP_NEWER_PTX,
        "virtual GPU: the program cannot run: the program's PTX is newer than the virtual GPU: "
        "expected PTX 9.x or older, got PTX 10.0 (hint: compile with CUDA Toolkit 13)\n");
    free(image.bytes);
}

Test(bad_input, unknown_opcodes_all_at_once)
{
    struct image image = image_of(PTX_HEAD("9.9") ".visible .entry k() {\n.reg .b32 %r<3>;\n"
                                                  "frobnicate.u32 %r1, %r2;\n"
                                                  "add.u32 %r1, %r1, %r2;\n"
                                                  "defenestrate.b32 %r1, %r2;\nret;\n}\n",
                                  FATBIN_LZ4);
    check_load(image, VP_INVALID_PTX,
               "virtual GPU: the program's GPU code cannot run: 2 PTX instructions cannot be "
               "executed by the virtual GPU: PTX line 6: frobnicate.u32: not supported by the "
               "virtual GPU; PTX line 8: defenestrate.b32: not supported by the virtual GPU "
               "(hint: docs/supported-ptx.md lists the supported instructions)\n");
    free(image.bytes);
}

Test(bad_input, ptx_that_is_none)
{
    struct image image = image_of(PTX_HEAD("9.0") ".visible .entry k( {\n", FATBIN_RAW);
    check_load(
        image, VP_INVALID_PTX,
        "virtual GPU: the program's GPU code cannot run: the PTX could not be parsed: PTX line 4: "
        "expected .param, got '{' (hint: the file is damaged or has another format)\n");
    free(image.bytes);
}

Test(bad_input, truncated_fat_binaries)
{
    for (enum fatbin_storage storage = FATBIN_RAW; storage <= FATBIN_ZSTD; storage++) {
        struct image image = image_of(good, storage);
        for (size_t n = 0; n < image.n; n += 13) {
            struct image part = {image.bytes, n};
            check_load(part, VP_INVALID_IMAGE,
                       n < FATBIN_HEADER_BYTES
                           ? DAMAGED("its header is cut off", "0")
                           : DAMAGED("it is shorter than its header says", "8"));
        }
        free(image.bytes);
    }
}

Test(bad_input, corrupted_fat_binaries)
{
    struct image image = image_of(good, FATBIN_ZSTD);
    image.bytes[0] ^= 1;
    check_load(image, VP_INVALID_IMAGE, DAMAGED("it has the wrong magic number", "0"));
    image.bytes[0] ^= 1;
    memset(image.bytes + FATBIN_HEADER_BYTES + 64, 'X', 4);
    check_load(image, VP_INVALID_IMAGE, DAMAGED("zstd cannot decompress an entry", "16"));
    free(image.bytes);
    image = image_of(good, FATBIN_LZ4);
    memset(image.bytes + FATBIN_HEADER_BYTES + 64, 0xff, 40);
    check_load(image, VP_INVALID_IMAGE, DAMAGED("LZ4 cannot decompress an entry", "16"));
    free(image.bytes);
    image = image_of(good, FATBIN_RAW);
    memset(image.bytes + FATBIN_HEADER_BYTES + 64, 0xff, 40);
    check_load(image, VP_INVALID_IMAGE,
               "virtual GPU: the program cannot run: the program's PTX has no .version line (hint: "
               "compile the program again)\n");
    free(image.bytes);
}

/* ---- launches ------------------------------------------------------------------------------- */

struct size {
    uint32_t gx, gy, gz, bx, by, bz;
    uint64_t shared;
};

static void check_launch(const char *name, struct size s, int error, const char *message)
{
    struct image image = image_of(good, FATBIN_RAW);
    int fd = client();
    uint64_t module;
    cr_assert_eq(client_load(fd, image.bytes, image.n, &module), VP_OK);
    uint64_t kernel = client_kernel(fd, module, name);
    device_said();
    cr_assert_eq(ask_op(fd, VP_LAUNCH, kernel, s.gx | (uint64_t)s.gy << 32,
                        s.gz | (uint64_t)s.bz << 32, s.bx | (uint64_t)s.by << 32, s.shared),
                 error);
    cr_assert_eq(ask_op(fd, VP_DEVICE_SYNC, 0), VP_OK, "a refused launch leaves no error behind");
    cr_assert_str_eq(device_said(), message);
    free(image.bytes);
    close(fd);
}

Test(bad_input, launch_dimensions)
{
    check_launch("k", (struct size){1, 1, 1, 1024, 1, 1, 0}, VP_OK, "");
    check_launch(
        "k", (struct size){0, 1, 1, 32, 1, 1, 0}, VP_INVALID_VALUE,
        "virtual GPU: launch of k refused: grid (0,1,1) and block (32,1,1) must not contain 0 (hint: is the number of blocks rounded up?)\n");
    check_launch(
        "k", (struct size){1, 1, 1, 32, 0, 1, 0}, VP_INVALID_VALUE,
        "virtual GPU: launch of k refused: grid (1,1,1) and block (32,0,1) must not contain 0 (hint: is the number of blocks rounded up?)\n");
    check_launch(
        "k", (struct size){1, 1, 1, 1025, 1, 1, 0}, VP_INVALID_VALUE,
        "virtual GPU: launch of k refused: a block of (1025,1,1) has 1025 threads; the limits are "
        "1024 threads and (1024,1024,64)\n");
    check_launch(
        "k", (struct size){1, 1, 1, 1, 1, 65, 0}, VP_INVALID_VALUE,
        "virtual GPU: launch of k refused: a block of (1,1,65) has 65 threads; the limits are "
        "1024 threads and (1024,1024,64)\n");
    check_launch("k", (struct size){1, 65536, 1, 32, 1, 1, 0}, VP_INVALID_VALUE,
                 "virtual GPU: launch of k refused: a grid of (1,65536,1) blocks; at most "
                 "(2147483647,65535,65535)\n");
    check_launch("k", (struct size){0x80000000, 1, 1, 32, 1, 1, 0}, VP_INVALID_VALUE,
                 "virtual GPU: launch of k refused: a grid of (2147483648,1,1) blocks; at most "
                 "(2147483647,65535,65535)\n");
    check_launch("bounded", (struct size){1, 1, 1, 65, 1, 1, 0}, VP_INVALID_VALUE,
                 "virtual GPU: launch of bounded refused: 65 threads per block; its "
                 "__launch_bounds__ allow 64\n");
    check_launch("k", (struct size){1, 1, 1, 65536, 65536, 65536, 0}, VP_INVALID_VALUE,
                 "virtual GPU: launch of k refused: a block of (65536,65536,65536) has "
                 "281474976710656 threads; the limits are 1024 threads and (1024,1024,64)\n");
}

Test(bad_input, too_much_shared_memory)
{
    check_launch("big", (struct size){1, 1, 1, 32, 1, 1, 8192}, VP_OK, "");
    check_launch("big", (struct size){1, 1, 1, 32, 1, 1, 8193}, VP_INVALID_VALUE,
                 "virtual GPU: launch of big refused: 8193 bytes of dynamic and 40960 of static "
                 "shared memory; at most 8192 of dynamic (hint: up to 60416 after "
                 "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...))\n");
    check_launch("k", (struct size){1, 1, 1, 32, 1, 1, UINT64_MAX}, VP_INVALID_VALUE,
                 "virtual GPU: launch of k refused: 18446744073709551615 bytes of dynamic and 0 of "
                 "static shared memory; at most 49152 of dynamic (hint: up to 101376 after "
                 "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...))\n");
}

Test(bad_input, more_memory_than_the_profile_has)
{
    int fd = client();
    device_said();
    allocate(fd, UINT64_C(9) << 30, VP_OUT_OF_MEMORY);
    cr_assert_str_eq(
        device_said(),
        "virtual GPU: cudaMalloc: the GPU does not have enough memory: got 9663676416 bytes requested, "
        "4096 of 8585216000 in use (hint: this virtual NVIDIA GeForce RTX 4060 Laptop GPU has "
        "8187 MiB; free memory that is not needed)\n");
    allocate(fd, UINT64_MAX, VP_OUT_OF_MEMORY);
    cr_assert_eq(ask_op(fd, VP_ALLOC_SHARED, UINT64_C(9) << 30, 1), VP_OUT_OF_MEMORY);
    allocate(fd, 1 << 20, VP_OK);
    close(fd);
}
