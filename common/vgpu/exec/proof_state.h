/** @file
 * The parts of frames, warps and blocks that only a proof (proof.h) uses.
 */
#pragma once

#include "vgpu/exec/warp_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The origin of a word during a proof (proof.h). `low`: of its 32 bits (of 64: of the first word),
 * or of its lower 16; `high`: of its upper 16. All zeros: no origin. */
struct origin {
    uint32_t low, high;
    uint64_t way;
    uint32_t step;  /**< log entry that made the value; 0: none (proof_log.h). Without a log: see
                         proof_halves.h for products, and proof_tile.c for elements */
    uint32_t value; /**< the value that the word should hold: a float32, or 16 bits for each half */
    uint32_t lost;  /**< upper bound of the loss: a float32, or its upper 16 bits for each half */
    uint32_t
        maker; /**< the other thread that made all its products, PROOF_SEVERAL, or 0: this one */
};

/** A maker: several threads have made the products. The number of a thread has the bit above. */
#define PROOF_SEVERAL   UINT32_C(1)
#define PROOF_IS_THREAD (UINT32_C(1) << 31)

/** The use of a word of shared memory. */
struct proof_users {
    uint16_t writer; /**< the thread of the block that last stored x there, plus one; or 0 */
    uint16_t reader; /**< the first thread that loaded it since then, plus one; or PROOF_READERS */
    bool loaded;     /**< an element of x or k was loaded from there */
};
/** A reader: several threads have loaded the word. */
#define PROOF_READERS UINT16_MAX

/** The origins of a memory's words, in a proof. */
struct proof_words {
    struct origin *words;
    size_t room, used;
    uint32_t staged;           /**< number of words from which elements of x or k were loaded */
    uint32_t *places;          /**< [room] of a block: window positions of a word's weights */
    struct proof_users *users; /**< [room] of a block */
    uint64_t outputs_start;    /**< of a block: the first output, less its thread's number, or 0 */
    bool watched;              /**< of a block: its tiles are watched */
};

/** The last outputs that a thread stored without computing products in between. */
struct proof_run {
    uint32_t first; /**< products that it had computed when the previous run ended */
    uint32_t last;  /**< ... when it stored the last output */
    uint32_t outputs;
    uint32_t direct; /**< outputs of earlier runs for which it computed a direct sum's products */
};

/** The state of a warp in a proof. */
struct proof_warp {
    struct proof_words local;
    struct proof_bytes *bytes;  /**< [32] words that are stored byte by byte, or NULL */
    uint32_t multiplied;        /**< lanes that computed a product of x and k */
    uint32_t multiplies;        /**< the same since the last backward branch */
    uint32_t used;              /**< lanes that stored or exchanged a result */
    uint32_t made[VG_LANES];    /**< products of each lane, those of sums included */
    uint32_t zeros[VG_LANES];   /**< those of them that are 0, which no sum counts */
    uint32_t paired[VG_LANES];  /**< ... that were computed two at a time */
    uint32_t padded[VG_LANES];  /**< its products of a zero and an element of x or k */
    uint32_t outputs[VG_LANES]; /**< words of y to which it was the first to store products */
    uint32_t kept[VG_LANES];    /**< products in the sums that it stored to other global memory */
    struct proof_run run[VG_LANES];
    int32_t loaded[VG_LANES]; /**< elements of x and k that each lane loaded, less those staged */
    struct proof_recent *recent; /**< [32] while an output is followed (proof_log.h), or NULL */
};
