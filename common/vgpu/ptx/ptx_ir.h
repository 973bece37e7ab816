/** @file
 * The decoded form of PTX that the executor runs.
 *
 * A register is a slot of a frame: 32 lanes of 4 bytes (or 8, for 64-bit types), so an operand is a
 * byte offset into the frame. 16-bit values are zero-extended in 4 bytes. A predicate is one 4-byte
 * word with a bit per lane. Numbers and kernel parameters are also slots; they are filled when the
 * frame is created. Offset 0 is a sink that is never read.
 *
 *     frame: | sink 256 | slots in order of first use: registers, predicates, constants ... |
 *
 * Each basic block starts with ENTER (or ENTER_JOIN where lanes may reconverge), which counts it.
 */
#pragma once

#include "vgpu/ptx/ptx_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Cost classes: the pipes of the clock's model, and columns of the counters. */
#define IR_CLASS_MAP(X)                                                                            \
    X(INT, "int")                                                                                  \
    X(FP32, "fp32")                                                                                \
    X(FP64, "fp64")                                                                                \
    X(FP16, "fp16")                                                                                \
    X(SPECIAL, "special")                                                                          \
    X(CONVERT, "convert")                                                                          \
    X(MOVE, "move")                                                                                \
    X(CONTROL, "control")                                                                          \
    X(SYNC, "sync")                                                                                \
    X(GLOBAL, "global")                                                                            \
    X(SHARED, "shared")                                                                            \
    X(LOCAL, "local")                                                                              \
    X(CONSTANT, "constant")                                                                        \
    X(ATOMIC, "atomic")                                                                            \
    X(EXCHANGE, "exchange")                                                                        \
    X(TENSOR, "tensor")
enum ir_class {
#define IR_CLASS_ENUM(name, text) IR_CLASS_##name,
    IR_CLASS_MAP(IR_CLASS_ENUM)
#undef IR_CLASS_ENUM
        IR_CLASSES
};

/** One operation for each row of opcodes.def. */
enum ir_op {
#define ROW(ID) IR_##ID,
#include "vgpu/ptx/opcodes.def"
    IR_OPS
};

/** Bits of ir_insn.mode. */
enum ir_mode {
    MODE_RND = 0xf, /**< enum ir_rounding */
    MODE_FTZ = 0x10,
    MODE_SAT = 0x20,
    MODE_APPROX = 0x40,
    MODE_RELU = 0x80,
    MODE_NAN = 0x100,
    MODE_XORSIGN = 0x200,
    MODE_ABS = 0x400,
    MODE_SATFINITE = 0x800,
    MODE_TO_INTEGER = 0x1000, /**< .rni, .rzi, .rmi, .rpi */
    MODE_SIGNED = 0x2000,     /**< the first type suffix is signed */
    MODE_SIGNED2 = 0x4000,    /**< the second type suffix is signed */
    MODE_CARRY_OUT = 0x8000,
    MODE_HI = 0x10000,
    MODE_TRANS = 0x20000,
    MODE_TO = 0x40000, /**< cvta.to: from a generic address */
    MODE_ARRIVE = 0x80000,
    MODE_XOR = 0x100000,     /**< mma of b1: xor, not and */
    MODE_STRONG = 0x200000,  /**< .relaxed and stronger: the access takes part in synchronisation */
    MODE_ACQUIRE = 0x400000, /**< .acquire, .acq_rel */
    MODE_VOLATILE = 0x800000,
    MODE_PRMT = 0x7000000,       /**< 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16 */
    MODE_CLUSTER = 0x8000000,    /**< .shared::cluster */
    MODE_MULTICAST = 0x10000000, /**< copies to several blocks of the cluster */
};
/** Bits of ir_insn.imm in wgmma. */
enum ir_warpgroup {
    WARPGROUP_NEGATE_A = 1,
    WARPGROUP_NEGATE_B = 2,
    WARPGROUP_TRANSPOSE_A = 4, /**< in memory, elements of one column are adjacent */
    WARPGROUP_TRANSPOSE_B = 8, /**< in memory, elements of one row are adjacent */
    WARPGROUP_A_REGISTERS = 16,
};
#define MODE_PRMT_SHIFT         24
#define MODE_TYPE_SIGNED(mode)  (((mode)&MODE_SIGNED) != 0)
#define MODE_TYPE2_SIGNED(mode) (((mode)&MODE_SIGNED2) != 0)

enum ir_rounding { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA };

/** Comparisons and their suffixes: X(name, text). */
#define IR_COMPARE_MAP(X)                                                                          \
    X(EQ, "eq")                                                                                    \
    X(NE, "ne")                                                                                    \
    X(LT, "lt")                                                                                    \
    X(LE, "le")                                                                                    \
    X(GT, "gt")                                                                                    \
    X(GE, "ge")                                                                                    \
    X(EQU, "equ")                                                                                  \
    X(NEU, "neu")                                                                                  \
    X(LTU, "ltu")                                                                                  \
    X(LEU, "leu")                                                                                  \
    X(GTU, "gtu")                                                                                  \
    X(GEU, "geu")                                                                                  \
    X(NUM, "num")                                                                                  \
    X(NAN, "nan")
enum ir_compare {
#define NAME(name, ...) CMP_##name,
    IR_COMPARE_MAP(NAME)
#undef NAME
};

enum ir_bool { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

/** Operations of atom, red and redux: X(name, text). */
#define IR_ATOM_MAP(X)                                                                             \
    X(ADD, "add")                                                                                  \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(EXCH, "exch")                                                                                \
    X(CAS, "cas")                                                                                  \
    X(INC, "inc")                                                                                  \
    X(DEC, "dec")
enum ir_atom {
#define NAME(name, ...) ATOM_##name,
    IR_ATOM_MAP(NAME)
#undef NAME
};

/** Suffixes that select a variant of an instruction, in ir_insn.sub: X(name, text). */
#define IR_SUB_MAP(X)                                                                              \
    X(UP, "up")                                                                                    \
    X(DOWN, "down")                                                                                \
    X(BFLY, "bfly")                                                                                \
    X(IDX, "idx")                                                                                  \
    X(ALL, "all")                                                                                  \
    X(ANY, "any")                                                                                  \
    X(UNI, "uni")                                                                                  \
    X(BALLOT, "ballot")                                                                            \
    X(POPC, "popc")                                                                                \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(FINITE, "finite")                                                                            \
    X(INFINITE, "infinite")                                                                        \
    X(NUMBER, "number")                                                                            \
    X(NOTANUMBER, "notanumber")                                                                    \
    X(NORMAL, "normal")                                                                            \
    X(SUBNORMAL, "subnormal")                                                                      \
    X(LOAD_A, "a")                                                                                 \
    X(LOAD_B, "b")                                                                                 \
    X(LOAD_C, "c")                                                                                 \
    X(INIT, "init")                                                                                \
    X(INVAL, "inval")                                                                              \
    X(DROP, "arrive_drop")                                                                         \
    X(EXPECT_TX, "expect_tx")                                                                      \
    X(COMPLETE_TX, "complete_tx")                                                                  \
    X(PARITY, "parity")                                                                            \
    X(NOINC, "noinc")                                                                              \
    X(COMMIT_GROUP, "commit_group")                                                                \
    X(WAIT_GROUP, "wait_group")                                                                    \
    X(WAIT_ALL, "wait_all")
enum ir_sub {
    SUB_NONE,
#define NAME(name, ...) SUB_##name,
    IR_SUB_MAP(NAME)
#undef NAME
};

/** Special registers and their widths in bits: X(name, text, bits). */
#define IR_SREG_MAP(X)                                                                             \
    X(TID_X, "%tid.x", 32)                                                                         \
    X(TID_Y, "%tid.y", 32)                                                                         \
    X(TID_Z, "%tid.z", 32)                                                                         \
    X(NTID_X, "%ntid.x", 32)                                                                       \
    X(NTID_Y, "%ntid.y", 32)                                                                       \
    X(NTID_Z, "%ntid.z", 32)                                                                       \
    X(CTAID_X, "%ctaid.x", 32)                                                                     \
    X(CTAID_Y, "%ctaid.y", 32)                                                                     \
    X(CTAID_Z, "%ctaid.z", 32)                                                                     \
    X(NCTAID_X, "%nctaid.x", 32)                                                                   \
    X(NCTAID_Y, "%nctaid.y", 32)                                                                   \
    X(NCTAID_Z, "%nctaid.z", 32)                                                                   \
    X(CLUSTERID_X, "%clusterid.x", 32)                                                             \
    X(CLUSTERID_Y, "%clusterid.y", 32)                                                             \
    X(CLUSTERID_Z, "%clusterid.z", 32)                                                             \
    X(NCLUSTERID_X, "%nclusterid.x", 32)                                                           \
    X(NCLUSTERID_Y, "%nclusterid.y", 32)                                                           \
    X(NCLUSTERID_Z, "%nclusterid.z", 32)                                                           \
    X(CLUSTER_CTAID_X, "%cluster_ctaid.x", 32)                                                     \
    X(CLUSTER_CTAID_Y, "%cluster_ctaid.y", 32)                                                     \
    X(CLUSTER_CTAID_Z, "%cluster_ctaid.z", 32)                                                     \
    X(CLUSTER_NCTAID_X, "%cluster_nctaid.x", 32)                                                   \
    X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y", 32)                                                   \
    X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z", 32)                                                   \
    X(CLUSTER_CTARANK, "%cluster_ctarank", 32)                                                     \
    X(CLUSTER_NCTARANK, "%cluster_nctarank", 32)                                                   \
    X(LANEID, "%laneid", 32)                                                                       \
    X(WARPID, "%warpid", 32)                                                                       \
    X(NWARPID, "%nwarpid", 32)                                                                     \
    X(SMID, "%smid", 32)                                                                           \
    X(NSMID, "%nsmid", 32)                                                                         \
    X(GRIDID, "%gridid", 64)                                                                       \
    X(LANEMASK_EQ, "%lanemask_eq", 32)                                                             \
    X(LANEMASK_LE, "%lanemask_le", 32)                                                             \
    X(LANEMASK_LT, "%lanemask_lt", 32)                                                             \
    X(LANEMASK_GE, "%lanemask_ge", 32)                                                             \
    X(LANEMASK_GT, "%lanemask_gt", 32)                                                             \
    X(CLOCK, "%clock", 32)                                                                         \
    X(CLOCK_HI, "%clock_hi", 32)                                                                   \
    X(CLOCK64, "%clock64", 64)                                                                     \
    X(GLOBALTIMER, "%globaltimer", 64)                                                             \
    X(GLOBALTIMER_LO, "%globaltimer_lo", 32)                                                       \
    X(GLOBALTIMER_HI, "%globaltimer_hi", 32)                                                       \
    X(DYNAMIC_SMEM, "%dynamic_smem_size", 32)                                                      \
    X(TOTAL_SMEM, "%total_smem_size", 32)                                                          \
    X(ENVREG1, "%envreg1", 32)                                                                     \
    X(ENVREG2, "%envreg2", 32)                                                                     \
    X(RESERVED_SMEM, "%reserved_smem_offset_begin", 32)                                            \
    X(RESERVED_SMEM_END, "%reserved_smem_offset_end", 32)                                          \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster", 1)
enum ir_sreg {
    SREG_NONE,
#define NAME(name, ...) SREG_##name,
    IR_SREG_MAP(NAME)
#undef NAME
};

struct ir_insn;
struct vg_warp;
/** Executes an instruction, and perhaps the ones after it; @return the next instruction, or NULL if
 * the warp has to wait. */
typedef const struct ir_insn *(*ir_handler)(const struct ir_insn *in, struct vg_warp *warp);

struct ir_insn {
    ir_handler run;   /**< set by the executor */
    ir_handler once;  /**< executes only this instruction */
    ir_handler inner; /**< executes only this instruction, without checking its guard */
    uint32_t d, a, b, c, e, f;
    int64_t imm;     /**< address offset; branches: index of the reconvergence point, or -1 */
    uint32_t guard;  /**< offset of a predicate; 0: none */
    uint32_t target; /**< index of the branch target; CALL: function index */
    uint32_t mode;
    uint32_t extra; /**< index of this instruction's first word in ir_function.extra */
    uint16_t op;
    uint16_t extras;
    uint8_t type, type2; /**< enum ptx_type: of memory and register, or of result and source */
    uint8_t space, bytes, vector;
    uint8_t compare, boolean, sub;
    uint8_t unread; /**< a bit for each element of a vector that no instruction reads; atomics: 1 */
    bool guard_not;
    bool fixed_address;  /**< the address consists of imm alone */
    bool local_frame;    /**< ... relative to this call's local memory */
    bool shared_dynamic; /**< ... relative to the dynamic shared memory */
    bool wide_address;   /**< the address register has 64 bits */
    uint32_t site;       /**< number of this memory instruction in the module; 0: none */
    uint32_t entry;      /**< number of its entry in vg_module.entries; 0: none */
    bool read_only;      /**< ld.global.nc; barriers: see vg_read_only_barriers() */
    bool past_l1;        /**< volatile, of a wider scope or .cg, so not in the L1 cache */
    uint32_t number;     /**< index of this instruction in the module */
    uint32_t index;      /**< of this instruction in its function */
    uint32_t block;      /**< index of the basic block */
    int32_t location;    /**< index into ir_module.locations */
    int32_t ptx_line;
};

/** A slot whose value is set before a frame is used. */
struct ir_constant {
    uint32_t offset; /**< in the frame */
    bool wide;
    bool is_param; /**< the value comes from the launch's parameter block */
    uint8_t param_bytes;
    bool param_signed;
    uint64_t bits; /**< the value, or its offset in the parameter block */
};

/** A register or constant of a frame: a predicate has 4 bytes, others 32 lanes of 4, 8 or 16
 * bytes. */
struct ir_slot {
    uint32_t offset, bytes;
};

struct ir_parameter {
    size_t offset,
        bytes; /**< kernels: offset in the parameter block; functions: in the call's local memory */
};

struct ir_location {
    const char *file; /**< owned by the module */
    int line;
    bool reads_past; /**< it is code of CUB or Thrust that reads elements that it never uses */
};

/** As a texture's number of dimensions: a cube map, whose coordinates are a direction that selects
 * a face and a point. */
enum { IR_TEXTURE_CUBE = 6 };

/** Operand e of the rows VIDEO: an operation on parts of registers, then perhaps a second one with c.
 * A part is a byte (0 to 3), a half (4, 5) or the whole register. */
enum ir_video {
    VIDEO_OPERATION = 0xf, /**< enum ir_video_operation */
    VIDEO_SECOND = 0x30,   /**< 0: none, 1: add, 2: min, 3: max */
    VIDEO_SECOND_SHIFT = 4,
    VIDEO_D_SIGNED = 0x40,
    VIDEO_A_SIGNED = 0x80,
    VIDEO_B_SIGNED = 0x100,
    VIDEO_SATURATES = 0x200,
    VIDEO_A_SHIFT = 10, /**< 3 bits: the part of a */
    VIDEO_B_SHIFT = 13,
    VIDEO_D_SHIFT = 16,
    VIDEO_WRAP = 0x80000, /**< a shift uses the low 5 bits of b */
    VIDEO_PLUS_ONE = 0x100000,
    VIDEO_SCALE_SHIFT = 21,   /**< 2 bits: a product is shifted right by 0, 7 or 15 */
    VIDEO_COMPARE_SHIFT = 23, /**< 3 bits: eq, ne, lt, le, gt, ge */
    VIDEO_BYTES = 0x4000000   /**< operations on four bytes, not two halves */
};
enum { VIDEO_WHOLE = 6 };
enum ir_video_operation {
    VIDEO_OP_ADD,
    VIDEO_OP_SUB,
    VIDEO_OP_ABSDIFF,
    VIDEO_OP_MIN,
    VIDEO_OP_MAX,
    VIDEO_OP_SHL,
    VIDEO_OP_SHR,
    VIDEO_OP_MAD,
    VIDEO_OP_SET
};

enum ir_builtin {
    IR_NOT_BUILTIN,
    IR_VPRINTF,
    IR_ASSERTFAIL,
    IR_MALLOC,
    IR_FREE,
#define X(ID, name) IR_RUNTIME_##ID,
#include "vgpu/ptx/device_runtime.def"
#undef X
};

struct ir_function {
    const char *name;
    bool is_entry;
    enum ir_builtin builtin;
    bool has_body;
    char *refusal; /**< why it cannot run although it has a body in PTX; otherwise NULL */
    struct ir_insn *insns;
    size_t insn_count, insn_room;
    uint32_t *extra;
    size_t extra_count, extra_room;
    struct ir_constant *constants;
    size_t constant_count, constant_room;
    struct ir_slot *slots; /**< in the order of creation, without the sink */
    size_t slot_count, slot_room;
    uint32_t frame_bytes;
    uint32_t carry; /**< predicate of add.cc */
    struct ir_parameter *params, *returns;
    size_t param_count, return_count;
    size_t param_bytes;
    size_t local_bytes;      /**< of one call */
    size_t shared_bytes;     /**< static shared memory, including callees'; kernels only */
    size_t shared_alignment; /**< of the dynamic part */
    uint32_t block_count;
    uint32_t *block_first;                      /**< [blocks] index of each block's ENTER */
    uint32_t max_threads;                       /**< of .maxntid or .reqntid; 0: none */
    uint32_t cluster[3];                        /**< .reqnctapercluster; 0: none */
    uint32_t max_cluster;                       /**< .maxclusterrank; 0: none */
    bool explicit_cluster, blocks_are_clusters; /**< see ptx_ast.h */
    bool recursive_or_indirect;
    int registers;       /**< an estimate, used if there is no cubin */
    uint32_t first_insn; /**< number of its first instruction in the module */
};

struct ir_module {
    struct ir_function *functions;
    size_t function_count;
    struct ir_location *locations;
    size_t location_count, location_room;
    uint32_t site_count;
    uint32_t insn_count;
};

struct decoder;

/** One row of opcodes.def. */
struct ir_row {
    const char *id, *base, *required, *optional;
    enum ir_class class;
    int slots;
    const char *operands; /**< its columns; NULL for INTERNAL rows */
    /** Sets the fields of an instruction from the operands; NULL: the instruction is ignored. */
    void (*decode)(struct decoder *d, struct ir_insn *in);
    const char *operation;
    bool is_lane;     /**< LANE1..4, CAST: computed lane by lane */
    bool is_exact;    /**< CAST: only for registers exactly as wide as the columns' types */
    bool whole_warp;  /**< WARP, TOGETHER: never has a guard */
    bool is_together; /**< TOGETHER: waits at most for other lanes of its warp */
};
/** The rows, indexed by enum ir_op. */
extern const struct ir_row ir_rows[IR_OPS];
