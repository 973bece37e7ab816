/* Mistakes of a translator, planted in the text of one engine's program. If `from` ends with '*',
 * the rest of the line is also replaced. */
#include "vgpu/tests/engines/engine_plants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct engine_plant engine_plants[] = {
    {"another operation", "sub.f32", "add.f32"},
    {"a comparison without its equal", "setp.le.s32", "setp.lt.s32"},
    {"an ordered comparison", "setp.gtu.f32", "setp.gt.f32"},
    {"a shift without sign", "shr.s32", "shr.u32"},
    {"a product without sign", "mul.wide.s32", "mul.wide.u32"},
    {"a remainder without sign", "rem.s32", "rem.u32"},
    {"another rounding", "add.rz.f32", "add.rn.f32"},
    {"a conversion that rounds", "cvt.rzi.", "cvt.rni."},
    {"a conversion that does not saturate", ".sat.u8.", ".u8."},
    {"denormals that stay", "mul.ftz.f32", "mul.f32"},
    {"denormals that go", "min.f32", "min.ftz.f32"},
    {"a NaN that is lost", "max.NaN.f32", "max.f32"},
    {"an inverted guard", "@!%p0 ", "@%p0 "},
    {"no guard", "@%p1 ld.global", "ld.global"},
    {"no guard of a store", "@%p2 st.global", "st.global"},
    {"one turn more", "setp.lt.u32 %px0, %c", "setp.le.u32 %px0, %c"},
    {"a loop that is always entered", "setp.ge.u32 %px0, %c", "setp.gt.u32 %px0, %c"},
    {"a branch the other way", "@!%p3 bra E", "@%p3 bra E"},
    {"a missing barrier", "bar.sync 0;", ";"},
    {"a barrier that combines wrongly", "barrier.red.and", "barrier.red.or"},
    {"a byte without sign", "ld.global.s8", "ld.global.u8"},
    {"a pair the wrong way round", "v2.f32 {%f0, %f1}", "v2.f32 {%f1, %f0}"},
    {"a load that may use L1", "ld.global.cg.", "ld.global."},
    {"an offset left out", "[%a0+4]", "[%a0]"},
    {"an offset that is too large", "[%l0+4]", "[%l0+8]"},
    {"a pitch", "mad.lo.s32 %x1, %t2, 64,", "mad.lo.s32 %x1, %t2, 65,"},
    {"an index in 64 bits", "mad.lo.u32 %x1, %t3, 2654435761, %c0;",
     "mad.lo.u32 %x1, %t3, 2654435760, %c0;"},
    {"bank conflicts", "mul.lo.u32 %x0, %t0, 2;", "mul.lo.u32 %x0, %t0, 1;"},
    {"the order of atomics", "atom.global.exch.b32", "atom.global.add.u32"},
    {"a sum in the wrong type", "atom.global.add.f32", "atom.global.add.u32"},
    {"a shuffle the other way", "shfl.sync.up.b32", "shfl.sync.down.b32"},
    {"a vote of all lanes", "vote.sync.any.pred", "vote.sync.all.pred"},
    {"an empty mask", "activemask.b32 %x0;", "mov.u32 %x0, -1;"},
    {"a block number", "%ctaid.y;", "%ctaid.x;"},
    {"a thread number", "mov.u32 %t2, %tid.y", "mov.u32 %t2, %tid.z"},
    {"half of a pair", "add.f16x2", "sub.f16x2"},
    {"another path through a call", "st.param.b32 [ca],*", "st.param.b32 [ca], 0;"},
    {"no return", "@%p4 ret;", ";"},
    {"no exit", "@%p0 exit;", ";"},
    {"source lines", ".loc 1 *", ";"},
    {"a carry", "add.cc.u32", "add.u32"},
    {"a table of targets", "brx.idx %x0, J", "and.b32 %x0, %x0, 2; brx.idx %x0, J"},
    {"a fault that is not seen", "ld.global.u32 %x2, [%a3]", "mov.u32 %x2, 5; // "},
    {"a check of one byte less", "mad.wide.s32 %a0, %x1, 4, %g4", "mad.wide.s32 %a0, %x1, 4, %g0"},
    {"memory that counts as written", "mad.wide.u32 %a0, %t3, 4, %g8;",
     "mad.wide.u32 %a0, %t3, 4, %g0;"},
};
const size_t engine_plant_count = sizeof engine_plants / sizeof *engine_plants;

char *engine_plant_apply(const struct engine_plant *plant, const char *text)
{
    const size_t n = strcspn(plant->from, "*");
    const char *at = text, *found;
    char *to = NULL;
    size_t bytes, count = 0;
    FILE *f = open_memstream(&to, &bytes);
    if (!f)
        abort();
    for (; (found = strstr(at, plant->from)) ||
           (plant->from[n] && (found = memmem(at, strlen(at), plant->from, n)));
         count++) {
        fwrite(at, 1, (size_t)(found - at), f);
        fputs(plant->to, f);
        at = found + n + (plant->from[n] ? strcspn(found + n, "\n") : 0);
    }
    fputs(at, f);
    if (fclose(f))
        abort();
    if (count)
        return to;
    free(to);
    return NULL;
}
