/** @file
 * The decoded form of PTX that the executor runs.
 *
 * A register is a slot of a frame: 32 lanes of 4 bytes (or 8, for 64-bit types), so an operand is a
 * byte offset into the frame. 16-bit values lie zero-extended in 4 bytes. A predicate is one 4-byte
 * word with a bit per lane. Numbers and kernel parameters are slots too, filled when the frame is
 * made. Offset 0 is a sink that nobody reads.
 *
 *     frame: | sink 256 | slots in order of first use: registers, predicates, constants ... |
 *
 * Each basic block starts with ENTER (or ENTER_JOIN where lanes may reconverge), which counts it.
 */
#ifndef CONVLAB_PTX_IR_H
#define CONVLAB_PTX_IR_H

#include "vgpu/ptx/ptx_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Cost classes: the pipes of the clock model and the columns of the counters. */
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

enum ir_op {
#define LANE1(ID, ...)  IR_##ID,
#define LANE2(ID, ...)  IR_##ID,
#define LANE3(ID, ...)  IR_##ID,
#define LANE4(ID, ...)  IR_##ID,
#define SHAPED(ID, ...) IR_##ID,
#include "vgpu/ptx/opcodes.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef LANE4
#undef SHAPED
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
    MODE_TO_INTEGER = 0x1000, /**< .rni and friends */
    MODE_SIGNED = 0x2000,     /**< the first type suffix is signed */
    MODE_SIGNED2 = 0x4000,    /**< the second one is */
    MODE_CARRY_OUT = 0x8000,
    MODE_HI = 0x10000,
    MODE_TRANS = 0x20000,
    MODE_TO = 0x40000, /**< cvta.to */
    MODE_ARRIVE = 0x80000,
    MODE_XOR = 0x100000,     /**< mma of b1 */
    MODE_STRONG = 0x200000,  /**< .relaxed and stronger: takes part in synchronisation */
    MODE_ACQUIRE = 0x400000, /**< .acquire, .acq_rel */
    MODE_VOLATILE = 0x800000,
    MODE_PRMT = 0x7000000, /**< 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16 */
};
#define MODE_PRMT_SHIFT         24
#define MODE_TYPE_SIGNED(mode)  (((mode)&MODE_SIGNED) != 0)
#define MODE_TYPE2_SIGNED(mode) (((mode)&MODE_SIGNED2) != 0)

enum ir_rounding { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA };

enum ir_compare {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN,
};
enum ir_bool { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
enum ir_atom {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS,
    ATOM_INC,
    ATOM_DEC,
};
/** Small selectors of SHFL, VOTE, MATCH, BAR_RED and TESTP, in `sub`. */
enum ir_sub {
    SUB_NONE,
    SUB_UP,
    SUB_DOWN,
    SUB_BFLY,
    SUB_IDX,
    SUB_ALL,
    SUB_ANY,
    SUB_UNI,
    SUB_BALLOT,
    SUB_POPC,
    SUB_AND,
    SUB_OR,
    SUB_FINITE,
    SUB_INFINITE,
    SUB_NUMBER,
    SUB_NOTANUMBER,
    SUB_NORMAL,
    SUB_SUBNORMAL,
    SUB_LOAD_A,
    SUB_LOAD_B,
    SUB_LOAD_C,
    /* mbarrier */
    SUB_INIT,
    SUB_INVAL,
    SUB_DROP,
    SUB_EXPECT_TX,
    SUB_COMPLETE_TX,
    SUB_PARITY,
    SUB_NOINC,
    /* cp.async */
    SUB_COMMIT_GROUP,
    SUB_WAIT_GROUP,
    SUB_WAIT_ALL,
};

enum ir_sreg {
    SREG_NONE,
    SREG_TID_X,
    SREG_TID_Y,
    SREG_TID_Z,
    SREG_NTID_X,
    SREG_NTID_Y,
    SREG_NTID_Z,
    SREG_CTAID_X,
    SREG_CTAID_Y,
    SREG_CTAID_Z,
    SREG_NCTAID_X,
    SREG_NCTAID_Y,
    SREG_NCTAID_Z,
    SREG_LANEID,
    SREG_WARPID,
    SREG_NWARPID,
    SREG_SMID,
    SREG_NSMID,
    SREG_GRIDID,
    SREG_LANEMASK_EQ,
    SREG_LANEMASK_LE,
    SREG_LANEMASK_LT,
    SREG_LANEMASK_GE,
    SREG_LANEMASK_GT,
    SREG_CLOCK,
    SREG_CLOCK_HI,
    SREG_CLOCK64,
    SREG_GLOBALTIMER,
    SREG_GLOBALTIMER_LO,
    SREG_GLOBALTIMER_HI,
    SREG_DYNAMIC_SMEM,
    SREG_TOTAL_SMEM,
    SREG_ENVREG1,
    SREG_ENVREG2,
    SREG_RESERVED_SMEM,
    SREG_RESERVED_SMEM_END,
    SREG_ZERO,
    SREG_ONE,
};

struct ir_insn;
struct vg_warp;
/** Executes an instruction, and perhaps more; @return the next one, or NULL when the warp cannot go
 * on now. */
typedef const struct ir_insn *(*ir_handler)(const struct ir_insn *in, struct vg_warp *warp);

struct ir_insn {
    ir_handler run;   /**< set by the executor */
    ir_handler inner; /**< what a guarded instruction runs for the lanes of its guard */
    uint32_t d, a, b, c, e, f;
    int64_t imm;     /**< address offset; branches: index of the reconvergence point or -1 */
    uint32_t guard;  /**< offset of a predicate, 0 for none */
    uint32_t target; /**< index of the branch target; CALL: function index */
    uint32_t mode;
    uint32_t extra; /**< first of this instruction's words in ir_function.extra */
    uint16_t op;
    uint16_t extras;
    uint8_t type, type2; /**< enum ptx_type: of memory and register, or of result and source */
    uint8_t space, bytes, vector;
    uint8_t compare, boolean, sub;
    bool guard_not;
    bool fixed_address;  /**< the address is imm alone */
    bool local_frame;    /**< ... relative to this call's local memory */
    bool shared_dynamic; /**< ... relative to the dynamic shared memory */
    bool wide_address;   /**< the address register has 64 bits */
    uint32_t site;       /**< number of this memory instruction in the module, 0 for none */
    bool past_l1;        /**< loads: volatile, of another scope or .cg, so not from the L1 cache */
    uint32_t number;     /**< of this instruction in the module */
    uint32_t index;      /**< of this instruction in its function */
    uint32_t block;      /**< basic block */
    int32_t location;    /**< index into ir_module.locations */
    int32_t ptx_line;
};

/** A slot that is filled before a frame is used. */
struct ir_constant {
    uint32_t offset; /**< in the frame */
    bool wide;
    bool is_param; /**< bits come from the launch's parameter block */
    uint8_t param_bytes;
    bool param_signed;
    uint64_t bits; /**< or the offset in the parameter block */
};

struct ir_parameter {
    size_t offset,
        bytes; /**< kernels: in the parameter block; functions: in the call's local memory */
};

struct ir_location {
    const char *file; /**< owned by the module */
    int line;
};

enum ir_builtin { IR_NOT_BUILTIN, IR_VPRINTF, IR_ASSERTFAIL, IR_MALLOC, IR_FREE };

struct ir_function {
    const char *name;
    bool is_entry;
    enum ir_builtin builtin;
    bool has_body;
    struct ir_insn *insns;
    size_t insn_count, insn_room;
    uint32_t *extra;
    size_t extra_count, extra_room;
    struct ir_constant *constants;
    size_t constant_count, constant_room;
    uint32_t frame_bytes;
    uint32_t carry; /**< predicate of add.cc */
    struct ir_parameter *params, *returns;
    size_t param_count, return_count;
    size_t param_bytes;
    size_t local_bytes;         /**< of one call */
    size_t shared_bytes;        /**< static, kernels only, callees included */
    size_t shared_alignment;    /**< of the dynamic part */
    size_t static_shared_start; /**< functions: end of the module's shared variables they use */
    uint32_t block_count;
    uint32_t *block_first;   /**< [blocks] index of each block's ENTER */
    uint32_t max_threads;    /**< of .maxntid, 0 for none */
    uint32_t cluster_blocks; /**< of .reqnctapercluster, 0 for none */
    bool recursive_or_indirect;
    int registers;       /**< estimate, for when no cubin says */
    uint32_t first_insn; /**< number of the first instruction among all of the module */
};

struct ir_module {
    struct ir_function *functions;
    size_t function_count;
    struct ir_location *locations;
    size_t location_count, location_room;
    uint32_t site_count;
    uint32_t insn_count;
};

/** One row of opcodes.def. */
struct ir_row {
    const char *id, *base, *required, *optional;
    enum ir_class class;
    int slots;
    int shape;            /**< enum ir_shape, LANE for lane-wise ones */
    const char *types[5]; /**< LANE: destination and sources */
    const char *operation;
};
extern const struct ir_row ir_rows[IR_OPS];

enum ir_shape {
    SHAPE_LANE,
    SHAPE_INTERNAL,
    SHAPE_CARRY,
    SHAPE_TESTP,
    SHAPE_SREG,
    SHAPE_UNPACK,
    SHAPE_PACK,
    SHAPE_UNPACK_128,
    SHAPE_PACK_128,
    SHAPE_PRED,
    SHAPE_CVTA,
    SHAPE_ISSPACEP,
    SHAPE_SELP,
    SHAPE_SLCT,
    SHAPE_SETP,
    SHAPE_SET,
    SHAPE_CVT,
    SHAPE_CVT_PAIR,
    SHAPE_CVT_FP8,
    SHAPE_CVT_PACK,
    SHAPE_LD,
    SHAPE_ST,
    SHAPE_ATOM,
    SHAPE_ATOM_VECTOR,
    SHAPE_ATOM_128,
    SHAPE_IGNORED,
    SHAPE_CP_ASYNC,
    SHAPE_CP_ASYNC_WAIT,
    SHAPE_MBARRIER,
    SHAPE_TEX,
    SHAPE_SURFACE,
    SHAPE_CLUSTER_WAIT,
    SHAPE_MAPA,
    SHAPE_LDMATRIX,
    SHAPE_STMATRIX,
    SHAPE_ALLOCA,
    SHAPE_SHFL,
    SHAPE_VOTE,
    SHAPE_MATCH,
    SHAPE_REDUX,
    SHAPE_ACTIVEMASK,
    SHAPE_ELECT,
    SHAPE_BAR_WARP,
    SHAPE_WMMA_LOAD,
    SHAPE_WMMA_STORE,
    SHAPE_WMMA_MMA,
    SHAPE_MMA,
    SHAPE_MOVMATRIX,
    SHAPE_BRA,
    SHAPE_BRX,
    SHAPE_CALL,
    SHAPE_RET,
    SHAPE_EXIT,
    SHAPE_NANOSLEEP,
    SHAPE_BAR,
    SHAPE_BAR_RED,
};

/** What the suffixes of one opcode say. */
struct ir_suffixes {
    char text[24][24];
    int count;
    uint32_t mode;
    enum ptx_type types[5];
    int type_count;
    enum ptx_space space;
    int vector, compare, boolean, atom;
    bool has_atom, has_compare;
};

/** Cuts an opcode into base and suffixes and reads the suffixes. @return false when it has too
 * many. */
bool ir_suffixes_read(const char *opcode, char base[24], struct ir_suffixes *to);
/** @return the first row that fits, from row @p from on, or -1. */
int ir_row_find(const char *base, const struct ir_suffixes *suffixes, int from);
/** Writes the groups of suffixes (%rnd, ...) and their words as rows of a Markdown table. */
void ir_groups_write(FILE *out);

#endif
