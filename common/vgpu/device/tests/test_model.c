/* Tests parts of the device process that run no kernels: clock, occupancy, handles, program
 * check. */
#include "vgpu/device/handles.h"
#include "vgpu/probe/occupancy.h"
#include "vgpu/device/program_check.h"
#include "vgpu/device/timeline.h"
#include "vgpu/gpus/gpu_profile.h"

#include "base/files.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct vg_profile h200(void)
{
    struct vg_profile p;
    struct st_error err;
    cr_assert_eq(vg_profile_read(&p, "common/vgpu/gpus", "h200", &err), ST_OK);
    return p;
}

/* A kernel that only waits. */
static const struct vg_clock_use idle = {{0}};

Test(timeline, kernels_of_one_stream_follow_each_other)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream s = {.blocking = true};
    timeline_start(&tl, &p);
    struct tl_span a = timeline_kernel(&tl, &s, 1000, 0.1, &idle);
    struct tl_span b = timeline_kernel(&tl, &s, 1000, 0.1, &idle);
    cr_assert_float_eq(a.end_ns - a.start_ns, 1000, 1e-6);
    cr_assert_geq(b.start_ns, a.end_ns);
}

Test(timeline, kernels_of_two_streams_share_the_chip_if_they_fit)
{
    struct vg_profile p = h200();
    for (double share = 0.25; share <= 1; share += 0.25) {
        struct timeline tl;
        struct tl_stream s = {0}, t = {0};
        timeline_start(&tl, &p);
        struct tl_span a = timeline_kernel(&tl, &s, 1000, share, &idle);
        struct tl_span b = timeline_kernel(&tl, &t, 1000, share, &idle);
        if (share <= 0.5)
            cr_assert_lt(b.start_ns, a.end_ns);
        else
            cr_assert_geq(b.start_ns, a.end_ns);
    }
}

Test(timeline, a_copy_uses_a_gap_of_its_engine)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream late = {0}, early = {0};
    timeline_start(&tl, &p);
    timeline_wait(&tl, &late, 1e6);
    struct tl_span after = timeline_copy(&tl, &late, TL_HOST_TO_DEVICE, 1000, true, true);
    struct tl_span fits = timeline_copy(&tl, &early, TL_HOST_TO_DEVICE, 1000, true, true);
    struct tl_span too_long = timeline_copy(&tl, &early, TL_HOST_TO_DEVICE, 1e9, true, true);
    cr_assert_lt(fits.end_ns, after.start_ns);
    cr_assert_float_eq(too_long.start_ns, after.end_ns, 1e-6);
    for (int i = 0; i < 3 * TL_COPIES_TRACKED; i++) {
        struct tl_stream s = {0};
        struct tl_span next = timeline_copy(&tl, &s, TL_HOST_TO_DEVICE, 1000, true, true);
        cr_assert_geq(next.start_ns, fits.end_ns, "copies do not overlap");
    }
}

/* The time of eight launches in separate streams, each of which fills an eighth of the block
 * slots. */
static double eight_at_once(struct vg_clock_use use)
{
    struct vg_profile p = h200();
    struct timeline tl;
    timeline_start(&tl, &p);
    for (int i = 0; i < 8; i++) {
        struct tl_stream s = {0};
        timeline_kernel(&tl, &s, 1000, 0.125, &use);
    }
    return tl.all_end_ns;
}

Test(timeline, kernels_of_several_streams_share_the_chip)
{
    cr_assert_float_eq(eight_at_once(idle), 1000, 1e-6,
                       "kernels that only wait do not slow each other down");
    cr_assert_float_eq(eight_at_once((struct vg_clock_use){{1}}), 8000, 1e-3, "no faster than one");
    cr_assert_float_eq(eight_at_once((struct vg_clock_use){{0, 0, 0.5}}), 4000, 1e-3);
    cr_assert_float_eq(eight_at_once((struct vg_clock_use){{0.125}}), 1000, 1e-3, "room for all");
    const struct vg_clock_use waits = {{[3] = 0.125}}, computes_too = {{[0] = 0.1, [3] = 0.125}};
    cr_assert_float_eq(eight_at_once(waits), 1000, 1e-3, "each waits on slots of its own");
    cr_assert_gt(eight_at_once(computes_too), 1500, "no faster than one kernel on all slots");
    /* A computing and a loading kernel at the same time take as long as one that does both. */
    struct vg_profile p = h200();
    struct vg_clock_use computes = {{1}}, loads = {{0, 0, 1}};
    struct timeline tl;
    struct tl_stream s = {0}, t = {0};
    timeline_start(&tl, &p);
    timeline_kernel(&tl, &s, 1000, 0.1, &computes);
    double end = timeline_kernel(&tl, &t, 1000, 0.1, &loads).end_ns;
    cr_assert(end > 1200 && end <= 2000, "%.0f", end);
}

Test(timeline, many_kernels_at_once_are_not_forgotten)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct vg_clock_use use = {{0.5}};
    double before = 0;
    timeline_start(&tl, &p);
    for (int i = 1; i <= 3 * TL_SPELLS_TRACKED; i++) {
        struct tl_stream s = {0};
        timeline_kernel(&tl, &s, 1000, 0, &use);
        cr_assert_geq(tl.all_end_ns, 500.0 * i - 1e-3 * i, "%d", i);
        cr_assert_geq(tl.all_end_ns, before);
        before = tl.all_end_ns;
    }
    cr_assert_lt(before, 1.01 * 500 * 3 * TL_SPELLS_TRACKED + 1000);
}

Test(timeline, the_legacy_stream_waits_for_blocking_streams_only)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream legacy = {.blocking = true, .is_legacy = true}, blocking = {.blocking = true},
                     free_one = {0};
    timeline_start(&tl, &p);
    struct tl_span a = timeline_kernel(&tl, &free_one, 5e6, 0.1, &idle);
    struct tl_span b = timeline_kernel(&tl, &blocking, 1e6, 0.1, &idle);
    struct tl_span c = timeline_kernel(&tl, &legacy, 1000, 0.1, &idle);
    struct tl_span d = timeline_kernel(&tl, &blocking, 1000, 0.1, &idle);
    cr_assert_geq(c.start_ns, b.end_ns);
    cr_assert_lt(c.start_ns, a.end_ns);
    cr_assert_geq(d.start_ns, c.end_ns);
}

Test(timeline, copies_of_two_directions_overlap_and_those_of_one_do_not)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream s = {0}, t = {0}, u = {0};
    timeline_start(&tl, &p);
    struct tl_span a = timeline_copy(&tl, &s, TL_HOST_TO_DEVICE, 1e9, true, true);
    struct tl_span b = timeline_copy(&tl, &t, TL_DEVICE_TO_HOST, 1e9, true, true);
    struct tl_span c = timeline_copy(&tl, &u, TL_HOST_TO_DEVICE, 1e9, true, true);
    cr_assert_lt(b.start_ns, a.end_ns);
    cr_assert_geq(c.start_ns, a.end_ns);
    cr_assert_float_eq(a.end_ns - a.start_ns, p.copy_overhead_ns + 1e9 / p.pcie_bytes_per_s * 1e9,
                       1);
    cr_assert_lt(tl.host_ns, a.end_ns, "asynchronous");
    timeline_copy(&tl, &s, TL_HOST_TO_DEVICE, 8, true, false);
    cr_assert_geq(tl.host_ns, c.end_ns, "synchronous");
}

/* Event, empty kernel, event: the second event does not wait for the host. */
Test(timeline, an_event_after_a_short_kernel_has_its_time)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream s = {0};
    timeline_start(&tl, &p);
    timeline_call(&tl);
    timeline_recorded(&tl);
    const double before = timeline_record(&tl, &s);
    timeline_call(&tl);
    timeline_launched(&tl);
    timeline_kernel(&tl, &s, p.kernel_overhead_ns, 0.1, &idle);
    timeline_call(&tl);
    timeline_recorded(&tl);
    cr_assert_float_eq(timeline_record(&tl, &s) - before, p.launch_call_ns + p.kernel_overhead_ns,
                       1);
}

Test(timeline, polling_comes_to_an_end)
{
    struct vg_profile p = h200();
    struct timeline tl;
    struct tl_stream s = {0};
    timeline_start(&tl, &p);
    double end = timeline_kernel(&tl, &s, 10e9, 1, &idle).end_ns;
    int asked = 0;
    while (!timeline_query(&tl, end))
        asked++;
    cr_assert_gt(asked, 0);
    cr_assert_lt(asked, 1000);
}

/* Expects the results of cudaOccupancyMaxActiveBlocksPerMultiprocessor() on an H200. */
Test(occupancy, is_that_of_an_h200)
{
    struct vg_profile p = h200();
    struct vg_kernel_attributes small = {.registers = 8},
                                tiles = {.registers = 8, .static_shared_bytes = 48000};
    cr_assert_eq(occupancy_blocks(&p, &small, 128, 0), 16);
    cr_assert_eq(occupancy_blocks(&p, &small, 2048, 0), 0);
    cr_assert_eq(occupancy_blocks(&p, &small, 32, 32000), 7);
    for (int threads = 32; threads <= 512; threads *= 2)
        cr_assert_eq(occupancy_blocks(&p, &tiles, threads, 0), 4);
    cr_assert_eq(occupancy_blocks(&p, &tiles, 1024, 0), 2);
    struct vg_kernel_attributes many = {.registers = 255};
    cr_assert_eq(occupancy_blocks(&p, &many, 1024, 0), 0);
    cr_assert_eq(occupancy_blocks(&p, &many, 256, 0), 1);
}

Test(handles, are_never_used_twice)
{
    struct handles table = {.base = 5};
    int objects[100];
    for (int i = 0; i < 100; i++) {
        uint64_t number = handles_add(&table, &objects[i]);
        cr_assert_eq(number, (uint64_t)i + 5);
        cr_assert_eq(handles_get(&table, number), &objects[i]);
        if (i % 2)
            cr_assert_eq(handles_remove(&table, number), &objects[i]);
    }
    cr_assert_null(handles_get(&table, 6));
    cr_assert_null(handles_get(&table, 0));
    cr_assert_null(handles_get(&table, 105));
    cr_assert_null(handles_get(&table, UINT64_MAX));
    handles_clear(&table, NULL);
}

/* An ELF file with GPU code, and the libraries that it needs. */
struct program {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[64], libraries[64];
    Elf64_Dyn dynamic[3];
};

static struct program program_make(const char *library)
{
    struct program p = {.header = {.e_shoff = offsetof(struct program, sections),
                                   .e_shentsize = sizeof(Elf64_Shdr),
                                   .e_shnum = 4,
                                   .e_shstrndx = 1},
                        .names = "\0.nvFatBinSegment"};
    memcpy(p.header.e_ident, ELFMAG, SELFMAG);
    p.header.e_ident[EI_CLASS] = ELFCLASS64;
    p.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct program, names),
                                 .sh_size = sizeof p.names};
    p.sections[2] = (Elf64_Shdr){.sh_type = SHT_DYNAMIC,
                                 .sh_link = 3,
                                 .sh_name = 1,
                                 .sh_offset = offsetof(struct program, dynamic),
                                 .sh_size = sizeof p.dynamic};
    p.sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct program, libraries),
                                 .sh_size = sizeof p.libraries};
    p.dynamic[0].d_tag = DT_NEEDED;
    p.dynamic[0].d_un.d_val = 1;
    snprintf(p.libraries + 1, sizeof p.libraries - 1, "%s", library);
    return p;
}

Test(program_check, wants_the_shared_runtime_of_cuda_13)
{
    const struct {
        const char *library;
        enum st_code code;
        const char *hint;
    } cases[] = {{"libcudart.so.13", ST_OK, ""},
                 {"libc.so.6", ST_USAGE, "nvcc -cudart shared"}, /* stripped: no symbols */
                 {"libcudart.so.12", ST_OK, ""},
                 {"libcudart.so.11.0", ST_USAGE, "CUDA Toolkit 12.4 or newer"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program p = program_make(cases[i].library);
        struct st_error err = {0};
        enum vg_preload preload = VG_PRELOAD_ALL;
        cr_assert_eq(program_check_image(&p, sizeof p, &preload, &err), cases[i].code);
        cr_assert_eq(preload, VG_PRELOAD_NONE);
        cr_assert(strstr(err.hint, cases[i].hint), "%s", err.hint);
    }
}

Test(program_check, survives_mutations_of_a_program)
{
    char *image;
    size_t bytes;
    struct st_error err;
    enum vg_preload preload;
    cr_assert_eq(file_read("/proc/self/exe", (size_t)1 << 30, &image, &bytes, &err), ST_OK);
    cr_assert_eq(program_check_image(image, bytes, &preload, &err), ST_OK, "no GPU code in here");
    cr_assert_eq(preload, VG_PRELOAD_ALL);
    struct rng r = rng_make(5, 0);
    for (int i = 0; i < 2000; i++) {
        unsigned char header[64];
        memcpy(header, image, sizeof header);
        for (int k = 0; k < 3; k++)
            image[rng_range(&r, 16, 63)] = (char)rng_u64(&r);
        program_check_image(image, bytes, &preload, &err);
        program_check_image(image, (size_t)rng_range(&r, 0, 200), &preload, &err);
        memcpy(image, header, sizeof header);
    }
    free(image);
}

Test(program_check, finds_programs_as_the_shell_does)
{
    char path[PATH_MAX];
    struct st_error err;
    cr_assert_eq(program_find(path, "sh", &err), ST_OK);
    cr_assert_eq(path[0], '/');
    cr_assert_eq(program_find(path, "no-such-program-here", &err), ST_NOT_FOUND);
    cr_assert(strstr(err.hint, "./no-such-program-here"));
    cr_assert_eq(program_find(path, "/etc/passwd", &err), ST_NOT_FOUND);
}
