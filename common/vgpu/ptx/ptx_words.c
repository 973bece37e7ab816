/* The meaning of the words in opcodes.def: suffixes, groups of suffixes, columns of operands. */
#include "vgpu/ptx/ptx_match.h"

#include <stdio.h>
#include <string.h>

struct word {
    const char *text;
    int value;
};

static int word_value(const struct word *words, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i].text, text) == 0)
            return words[i].value;
    return -1;
}
#define VALUE(words, text) word_value(words, sizeof(words) / sizeof *(words), text)

#define COMPARE(name, text) {text, CMP_##name},
#define ATOM(name, text)    {text, ATOM_##name},
#define SUB(name, text)     {text, SUB_##name},
static const struct word compares[] = {
    IR_COMPARE_MAP(COMPARE){"lo", CMP_LT}, {"ls", CMP_LE}, {"hi", CMP_GT}, {"hs", CMP_GE}};
static const struct word booleans[] = {{"and", BOOL_AND}, {"or", BOOL_OR}, {"xor", BOOL_XOR}};
static const struct word atoms[] = {IR_ATOM_MAP(ATOM)};
static const struct word subs[] = {IR_SUB_MAP(SUB)};
static const struct word roundings[] = {
    {"rn", RND_RN},
    {"rz", RND_RZ},
    {"rm", RND_RM},
    {"rp", RND_RP},
    {"rna", RND_RNA},
    {"rni", RND_RN | MODE_TO_INTEGER},
    {"rzi", RND_RZ | MODE_TO_INTEGER},
    {"rmi", RND_RM | MODE_TO_INTEGER},
    {"rpi", RND_RP | MODE_TO_INTEGER},
};
static const struct word modes[] = {
    {"ftz", MODE_FTZ},
    {"sat", MODE_SAT},
    {"approx", MODE_APPROX},
    {"full", MODE_APPROX},
    {"relu", MODE_RELU},
    {"NaN", MODE_NAN},
    {"xorsign", MODE_XORSIGN},
    {"abs", MODE_ABS},
    {"satfinite", MODE_SATFINITE},
    {"cc", MODE_CARRY_OUT},
    {"trans", MODE_TRANS},
    {"to", MODE_TO},
    {"arrive", MODE_ARRIVE},
    {"xor", MODE_XOR},
    {"relaxed", MODE_STRONG},
    {"release", MODE_STRONG},
    {"mmio", MODE_STRONG},
    {"acquire", MODE_STRONG | MODE_ACQUIRE},
    {"acq_rel", MODE_STRONG | MODE_ACQUIRE},
    {"volatile", MODE_VOLATILE},
    {"f4e", 1 << MODE_PRMT_SHIFT},
    {"b4e", 2 << MODE_PRMT_SHIFT},
    {"rc8", 3 << MODE_PRMT_SHIFT},
    {"ecl", 4 << MODE_PRMT_SHIFT},
    {"ecr", 5 << MODE_PRMT_SHIFT},
    {"rc16", 6 << MODE_PRMT_SHIFT},
};
static const struct word spaces[] = {
    {"global", PTX_SPACE_GLOBAL},
    {"shared", PTX_SPACE_SHARED},
    {"shared::cluster", PTX_SPACE_SHARED},
    {"local", PTX_SPACE_LOCAL},
    {"const", PTX_SPACE_CONST},
    {"param", PTX_SPACE_PARAM},
    {"shared::cta", PTX_SPACE_SHARED},
    {"param::entry", PTX_SPACE_PARAM},
    {"param::func", PTX_SPACE_PARAM},
};
static const struct word vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};
static const struct word semantics[] = {
    {"volatile", 1}, {"weak", 1}, {"relaxed", 1}, {"acquire", 1}, {"release", 1},
    {"acq_rel", 1},  {"sc", 1},   {"sys", 1},     {"gpu", 1},     {"cta", 1},
    {"cluster", 1},  {"mmio", 1}, {"gl", 1},
};
static const struct word caches[] = {
    {"ca", 1},
    {"cg", 1},
    {"cs", 1},
    {"lu", 1},
    {"cv", 1},
    {"wb", 1},
    {"wt", 1},
    {"nc", 1},
    {"L1", 1},
    {"L2", 1},
    {"level::eviction_priority", 1},
};
static const struct word shapes[] = {
    {"m16n16k16", 1}, {"m8n32k16", 1}, {"m32n8k16", 1},  {"m16n16k8", 1},  {"m16n8k16", 1},
    {"m16n8k8", 1},   {"m16n8k4", 1},  {"m16n8k32", 1},  {"m8n8k16", 1},   {"m8n8k4", 1},
    {"m8n8k32", 1},   {"m16n8k64", 1}, {"m16n8k128", 1}, {"m16n8k256", 1}, {"m8n8k128", 1},
};

#define GROUP(name, words)                                                                         \
    {                                                                                              \
        name, words, sizeof(words) / sizeof *(words)                                               \
    }
static const struct {
    const char *name;
    const struct word *words;
    size_t count;
} groups[] = {
    GROUP("%rnd", roundings), GROUP("%cmp", compares), GROUP("%bool", booleans),
    GROUP("%atomop", atoms),  GROUP("%space", spaces), GROUP("%vec", vectors),
    GROUP("%sem", semantics), GROUP("%cache", caches), GROUP("%shape", shapes),
};
enum { GROUPS = sizeof groups / sizeof *groups };

void ir_groups_write(FILE *out)
{
    for (size_t g = 0; g < GROUPS; g++) {
        fprintf(out, "| `%s` |", groups[g].name);
        for (size_t i = 0; i < groups[g].count; i++)
            fprintf(out, " `%s`", groups[g].words[i].text);
        fputs(strcmp(groups[g].name, "%cache") == 0 ? " `L1::...` `L2::...` |\n" : " |\n", out);
    }
    fputs("| `%wgshape` | `m64nNk8` `m64nNk16` `m64nNk32`, where N is 8, 16, 24, ... 256 |\n", out);
}

/* @return whether a suffix belongs to the group that a word of the table names. */
static bool in_group(const char *group, const char *suffix)
{
    for (size_t g = 0; g < GROUPS; g++)
        if (strcmp(group, groups[g].name) == 0)
            return word_value(groups[g].words, groups[g].count, suffix) >= 0 ||
                   (groups[g].words == caches &&
                    (strncmp(suffix, "L1::", 4) == 0 || strncmp(suffix, "L2::", 4) == 0));
    if (strcmp(group, "%wgshape") == 0)
        return strncmp(suffix, "m64n", 4) == 0;
    enum ptx_type type = ptx_type_find(suffix, strlen(suffix));
    if (strcmp(group, "%element") == 0)
        return type != PTX_TYPE_none && type != PTX_TYPE_pred && type != PTX_TYPE_b128;
    if (ptx_type_is_element(type))
        return false;
    if (strcmp(group, "%memtype") == 0)
        return type != PTX_TYPE_none && type != PTX_TYPE_pred && type != PTX_TYPE_b128;
    return strcmp(group, "%type") == 0 && type != PTX_TYPE_none;
}

void ir_types_write(FILE *out)
{
    static const char *const kinds[] = {"%type", "%memtype", "%element"};
    static const char *const names[] = {
#define NAME(name, ...) #name,
        PTX_TYPE_MAP(NAME)
#undef NAME
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fprintf(out, "| `%s` |", kinds[k]);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (in_group(kinds[k], names[i]))
                fprintf(out, " `%s`", names[i]);
        fputs(" |\n", out);
    }
}

bool ir_words_have(const char *list, size_t n, const char *suffix)
{
    for (const char *end = list + n; list < end;) {
        size_t m = 0;
        while (list + m < end && list[m] != '|')
            m++;
        if (*list == '%') {
            char group[24];
            snprintf(group, sizeof group, "%.*s", (int)m, list);
            if (in_group(group, suffix))
                return true;
        } else if (strlen(suffix) == m && memcmp(list, suffix, m) == 0) {
            return true;
        }
        list += m + 1;
    }
    return false;
}

static void read_suffix(struct ir_suffixes *to, const char *text)
{
    int v;
    enum ptx_type type = ptx_type_find(text, strlen(text));
    if (type != PTX_TYPE_none && to->type_count < 5) {
        if (ptx_type_is_signed(type) && to->type_count < 2)
            to->mode |= to->type_count ? MODE_SIGNED2 : MODE_SIGNED;
        to->types[to->type_count++] = type;
    } else if ((v = VALUE(roundings, text)) >= 0) {
        to->mode = (to->mode & ~(uint32_t)MODE_RND) | (uint32_t)v;
    } else if ((v = VALUE(modes, text)) >= 0) {
        to->mode |= (uint32_t)v;
    } else if ((v = VALUE(spaces, text)) >= 0) {
        to->space = (enum ptx_space)v;
        if (strcmp(text, "shared::cluster") == 0)
            to->mode |= MODE_CLUSTER;
    } else if ((v = VALUE(vectors, text)) >= 0) {
        to->vector = v;
    }
    if ((v = VALUE(compares, text)) >= 0 && !to->has_compare) {
        to->has_compare = true;
        to->compare = v;
    }
    if ((v = VALUE(booleans, text)) >= 0)
        to->boolean = v;
    if ((v = VALUE(atoms, text)) >= 0 && !to->has_atom) {
        to->has_atom = true;
        to->atom = v;
    }
    if ((v = VALUE(subs, text)) >= 0)
        to->sub = v;
    if (strcmp(text, "hi") == 0)
        to->mode |= MODE_HI;
}

bool ir_suffixes_read(const char *opcode, char base[24], struct ir_suffixes *to)
{
    memset(to, 0, sizeof *to);
    to->vector = 1;
    size_t n = strcspn(opcode, ".");
    if (n >= 24)
        return false;
    memcpy(base, opcode, n);
    base[n] = '\0';
    while (opcode[n] == '.') {
        opcode += n + 1;
        n = strcspn(opcode, ".");
        if (to->count == SUFFIXES_MOST || n >= SUFFIX_CHARS)
            return false;
        memcpy(to->text[to->count], opcode, n);
        to->text[to->count][n] = '\0';
        read_suffix(to, to->text[to->count++]);
    }
    return true;
}

bool ir_suffixes_have(const struct ir_suffixes *s, const char *text)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->text[i], text) == 0)
            return true;
    return false;
}

/* ---- the columns of operands ----------------------------------------------------------------- */

static enum ir_place column_place(const char *word)
{
    return word[0] == '#'                         ? IR_NUMBER
           : word[0] == '@'                       ? IR_LABEL
           : word[0] == '{'                       ? IR_LIST
           : word[0] == '[' /* [at] or [field] */ ? IR_ADDRESS
                                                  : IR_REGISTER;
}

bool ir_column_next(const char **columns, struct ir_column *to)
{
    const char *word = *columns;
    size_t n = strcspn(word, " ");
    const char *colon = memchr(word, ':', n);
    *to = (struct ir_column){.place = column_place(word)};
    to->is_optional = n && word[n - 1] == '?';
    to->has_second = n > 1 && word[1] == '|';
    if (to->place == IR_REGISTER)
        to->field = word[0];
    else if (n > 2 && word[2] != 't')
        to->field = word[1];
    if (colon) {
        const size_t length = (size_t)(word + n - to->is_optional - colon - 1);
        memcpy(to->type, colon + 1, length < sizeof to->type ? length : sizeof to->type - 1);
    }
    *columns = word + n + strspn(word + n, " ");
    return n > 0;
}
