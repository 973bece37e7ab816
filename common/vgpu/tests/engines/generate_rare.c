/* Rarely used instructions of generated programs: dynamic local memory, barrier objects, clusters
 * of one or two blocks. */
#include "vgpu/tests/engines/generator.h"

static void allocate(struct gen *g)
{
    emit(g, "stacksave.u64 %%a0;");
    emit(g, "alloca.u64 %%a1, %d;", 16 << pick(g, 3));
    emit(g, "st.local.b64 [%%a1], %s;", from_register(g, 'q'));
    emit(g, "st.local.f32 [%%a1+8], %s;", from_register(g, 'f'));
    emit(g, "ld.local.b32 %s, [%%a1+%d];", to_register(g, 'r'), 4 * pick(g, 3));
    emit(g, "stackrestore.u64 %%a0;");
}

static void cluster_barrier(struct gen *g)
{
    emit_kept(g, "barrier.cluster.arrive;");
    emit_kept(g, "barrier.cluster.wait;");
}

/* Reads words of the other block, at a point that both blocks reach exactly once. */
static void other_block(struct gen *g)
{
    cluster_barrier(g);
    emit(g, "mov.u32 %%x0, %%cluster_ctarank;");
    emit(g, "xor.b32 %%x0, %%x0, 1;");
    emit(g, "mov.u32 %%x1, own;");
    emit(g, "mad.lo.u32 %%x1, %%t0, 16, %%x1;");
    emit(g, "mapa.shared::cluster.u32 %%x1, %%x1, %%x0;");
    emit(g, "ld.shared::cluster.b32 %s, [%%x1+%d];", to_register(g, 'r'), 4 * pick(g, 4));
    if (chance(g, 50))
        emit(g, "ld.shared::cluster.v2.f32 {%s, %s}, [%%x1];", to_register(g, 'f'),
             to_register(g, 'f'));
    cluster_barrier(g);
}

static void cluster(struct gen *g)
{
    if (g->has.clusters) {
        if (!g->depth && !g->in_function && !g->has.exits && gen_is_uniform(g))
            other_block(g);
        return;
    }
    emit(g, "mov.u32 %%x0, own;");
    emit(g, "mapa.shared::cluster.u32 %%x1, %%x0, 0;");
    emit(g, "getctarank.shared::cluster.u32 %s, %%x1;", to_register(g, 'r'));
    if (!gen_is_uniform(g))
        return;
    cluster_barrier(g);
}

/* All threads of the block arrive and wait for each other. */
static void barrier_object(struct gen *g)
{
    const int label = g->labels++;
    const bool parity = chance(g, 50);
    emit(g, "setp.eq.u32 %%px0, %%t0, 0;");
    emit(g, "@%%px0 mbarrier.init.shared.b64 [mb], %%t4;");
    emit(g, "bar.sync 0;");
    emit(g, "mbarrier.arrive.shared.b64 %%kq0, [mb];");
    emit(g, "mbarrier.pending_count.b64 %%k0, %%kq0;");
    emit_kept(g, "Q%d:", label);
    if (parity)
        emit_kept(g, "mbarrier.try_wait.parity.shared.b64 %%px0, [mb], 0;");
    else
        emit_kept(g, "mbarrier.test_wait.shared.b64 %%px0, [mb], %%kq0;");
    emit_kept(g, "@!%%px0 bra Q%d;", label);
    emit(g, "bar.sync 0;");
    emit(g, "setp.eq.u32 %%px0, %%t0, 0;");
    emit(g, "@%%px0 mbarrier.inval.shared.b64 [mb];");
    emit(g, "bar.sync 0;");
}

void gen_rare(struct gen *g)
{
    emit_open(g);
    switch (pick(g, 5)) {
    case 0:
        emit(g, "nanosleep.u32 20;");
        break;
    case 1:
        emit(g, "prefetch.global.L2 [%%g0];");
        break;
    case 2:
        allocate(g);
        break;
    case 3:
        cluster(g);
        break;
    default:
        if (gen_is_uniform(g) && !g->has.exits)
            barrier_object(g);
    }
    emit_close(g);
}
