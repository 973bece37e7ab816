#include "vgpu/device/session_proof.h"

#include "base/tsv.h"
#include "vgpu/exec/proof_field.h"

#include <string.h>

static bool read_one(const char *text, struct session_proved *to)
{
    char colon, end;
    struct conv_shape *s = &to->shape;
    const int read = sscanf(text, "%d,%d,%d,%d,%d,%d%c%ld%c", &s->B, &s->M, &s->C, &s->H, &s->W,
                            &s->K, &colon, &to->output, &end);
    const bool has_output = (read == 8 || (read == 9 && end == ';')) && colon == ':';
    if (!has_output)
        to->output = -1;
    return (read == 6 || (read >= 7 && colon == ';') || (has_output && to->output >= 0)) &&
           s->B > 0 && s->M > 0 && s->C > 0 && s->K > 0 && s->H >= s->K && s->W >= s->K;
}

bool session_proof_read(const char *text, struct session_proved to[SESSION_PROVED])
{
    static const char tiles[] = "tiles;";
    const bool has_tiles = strncmp(text, tiles, strlen(tiles)) == 0;
    text += has_tiles ? strlen(tiles) : 0;
    for (int i = 0; text && i < SESSION_PROVED; i++) {
        if (!read_one(text, &to[i]))
            return false;
        to[i].tiles = has_tiles;
        text = strchr(text, ';');
        text += text != NULL;
        to[i].next = text ? &to[i + 1] : NULL;
    }
    return !text;
}

enum st_code session_proof_start(struct session_proof *p, struct vg_device *device,
                                 struct st_error *err)
{
    *p = (struct session_proof){.proved = p->proved};
    if (!p->proved)
        return ST_OK;
    const struct conv_shape *s = &p->proved->shape;
    const enum st_code code = vg_proof_start(device, err);
    if (!code)
        vg_proof_taps(device, (size_t)s->C * (size_t)s->K * (size_t)s->K, p->proved->tiles);
    return code || p->proved->output < 0 ? code
                                         : vg_proof_follow(device, (size_t)p->proved->output, err);
}

bool session_proof_upload(struct session_proof *p, struct vg_device *device, uint64_t address,
                          size_t bytes)
{
    if (!p->proved)
        return true;
    if (p->tensors == 0 || p->address[p->tensors - 1] != address) {
        if (p->tensors == VG_PROOF_TENSORS)
            return true;
        p->address[p->tensors++] = address;
    }
    return vg_proof_tensor(device, (enum vg_proof_tensor)(p->tensors - 1), address, bytes);
}

void session_proof_host_tensor(struct session_proof *p, int nth, uint64_t address, size_t bytes)
{
    if (!p->proved || p->tensors != nth)
        return;
    p->address[p->tensors] = address;
    p->host_bytes[p->tensors++] = bytes;
}

bool session_proof_host_begin(struct session_proof *p, struct vg_device *device)
{
    bool good = true;
    for (int i = 0; p->host_bytes[VG_PROOF_Y] && i < VG_PROOF_TENSORS; i++)
        good &= vg_proof_tensor(device, (enum vg_proof_tensor)i, p->address[i], p->host_bytes[i]);
    memset(p->host_bytes, 0, sizeof p->host_bytes);
    return good;
}

/* ---- judging -------------------------------------------------------------------------------- */

struct operands {
    const struct conv_shape *shape;
    const uint32_t *x, *k;
};

/* @return the element of an output: the convolution of the elements of x and k. The halves of the
 * products are summed separately, so that only the sum needs a reduction. */
static uint32_t element_of(const struct operands *o, int b, int m, int h, int w)
{
    const struct conv_shape *s = o->shape;
    uint64_t low = 0, high = 0;
    for (int c = 0; c < s->C; c++)
        for (int p = 0; p < s->K; p++) {
            const size_t image = (size_t)b * (size_t)s->C + (size_t)c;
            const uint32_t *x = o->x + (image * (size_t)s->H + (size_t)(h + p)) * (size_t)s->W;
            const size_t map = (size_t)m * (size_t)s->C + (size_t)c;
            const uint32_t *k = o->k + (map * (size_t)s->K + (size_t)p) * (size_t)s->K;
            for (int q = 0; q < s->K; q++) {
                const uint64_t product = (uint64_t)x[w + q] * k[q];
                low += (uint32_t)product;
                high += product >> 32;
            }
        }
    high += low >> 32;
    return field_add((uint32_t)(high % proof_field.prime), field_multiply((uint32_t)low, 1));
}

/* @param taps  of an output: products beyond them cancel each other */
static void add_word(struct proof_totals *t, const struct vg_proof_word *word, bool right, size_t i,
                     double taps)
{
    const double joined = word->by_atomics < taps ? word->by_atomics : taps;
    if (!right && t->right == t->outputs)
        t->first_wrong = i;
    t->outputs++;
    t->right += right;
    t->no_element += !word->has_element;
    t->products += word->products;
    t->x_shared += word->x_shared;
    t->k_shared += word->k_shared;
    t->x_buffer += word->x_buffer;
    t->k_constant += word->k_constant;
    t->read_only += word->read_only;
    t->by_atomics += word->by_atomics < word->products ? word->by_atomics : word->products;
    t->joins += word->joins;
    t->joined += word->joins > 1 && 20.0 * word->largest_part <= 19.0 * joined;
    t->largest_part += word->largest_part;
    t->lower += word->lower;
    t->upper += word->upper;
    t->without_x_shared += word->x_shared == 0;
}

static void judge(struct session_proof *p, const struct vg_device *device)
{
    const struct conv_shape *s = &p->proved->shape;
    const int height = s->H - s->K + 1, width = s->W - s->K + 1;
    size_t x_words, k_words, y_words;
    struct operands o = {s, vg_proof_elements(device, VG_PROOF_X, &x_words),
                         vg_proof_elements(device, VG_PROOF_K, &k_words)};
    vg_proof_elements(device, VG_PROOF_Y, &y_words);
    p->judged = true;
    if (p->tensors < VG_PROOF_TENSORS ||
        x_words != (size_t)s->B * (size_t)s->C * (size_t)s->H * (size_t)s->W ||
        k_words != (size_t)s->M * (size_t)s->C * (size_t)s->K * (size_t)s->K ||
        y_words != (size_t)s->B * (size_t)s->M * (size_t)height * (size_t)width)
        return;
    size_t i = 0;
    for (int b = 0; b < s->B; b++)
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < height; h++)
                for (int w = 0; w < width; w++, i++) {
                    struct vg_proof_word word;
                    vg_proof_word(device, i, &word);
                    const double largest = vg_proof_largest(device, (size_t)m);
                    const bool lost = !(word.lost <= VG_PROOF_LOST * largest);
                    const uint32_t wrong =
                        field_add(word.element, field_negative(element_of(&o, b, m, h, w)));
                    const bool right = (word.has_element || word.is_zero) && !lost &&
                                       (!wrong || field_is_rounding(wrong, largest));
                    p->totals.lost += lost && word.has_element;
                    add_word(&p->totals, &word, right, i, (double)s->C * s->K * s->K);
                }
}

void session_proof_free(struct session_proof *p, struct vg_device *device, uint64_t address)
{
    for (int i = 0; p->proved && !p->judged && i < p->tensors; i++)
        if (p->address[i] == address)
            judge(p, device);
}

/* ---- the record ------------------------------------------------------------------------------ */

static void write_fact(FILE *out, const char *kernel, const char *fact, unsigned long long value)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, kernel);
    tsv_row_add_text(&row, fact);
    tsv_row_add(&row, "%llu", value);
    tsv_row_write(&row, out);
}

/* "NUMBER KIND LAUNCH bx by bz tx ty tz SPACE ADDRESS WRITES VALUES[3] FROM[3] TENSOR INDEX FILE:LINE" */
static void write_step(void *context, const struct vg_proof_step *s)
{
    static const char tensors[] = "xky";
    struct tsv_row row;
    char text[640];
    snprintf(text, sizeof text,
             "%u %d %u %u %u %u %u %u %u %s %llu %d %.9g %.9g %.9g %u %u %u %c %ld %.200s:%d",
             s->number, (int)s->kind, s->launch, s->block.x, s->block.y, s->block.z, s->thread.x,
             s->thread.y, s->thread.z, s->space, (unsigned long long)s->address, s->writes_output,
             (double)s->value[0], (double)s->value[1], (double)s->value[2], s->from[0], s->from[1],
             s->from[2], tensors[s->tensor], s->index, s->file, s->line);
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, s->kernel);
    tsv_row_add_text(&row, "step");
    tsv_row_add_text(&row, text);
    tsv_row_write(&row, context);
}

/* "FINDING OTHER bx by bz tx ty tz LINE ADDRESS SPACE WHAT", SPACE "-" for none */
static void write_recent(const struct vg_device *device, FILE *out)
{
    struct vg_proof_recent r;
    for (size_t i = 0; vg_proof_recent(device, i, &r); i++) {
        struct tsv_row row;
        char text[160];
        snprintf(text, sizeof text, "%d %d %u %u %u %u %u %u %d %llu %s %s", r.finding, r.other,
                 r.block.x, r.block.y, r.block.z, r.thread.x, r.thread.y, r.thread.z, r.line,
                 (unsigned long long)r.address, r.space[0] ? r.space : "-", r.what);
        tsv_row_start(&row, 0);
        tsv_row_add_text(&row, r.file);
        tsv_row_add_text(&row, "recent");
        tsv_row_add_text(&row, text);
        tsv_row_write(&row, out);
    }
}

void session_proof_write(struct session_proof *p, struct vg_device *device, FILE *out)
{
    if (!p->proved || p->tensors == 0)
        return;
    if (!p->judged)
        judge(p, device);
#define WRITE(name) write_fact(out, "", #name, p->totals.name);
    PROOF_TOTALS(WRITE)
#undef WRITE
    if (p->proved->output >= 0 && !vg_proof_steps(device, write_step, out))
        write_fact(out, "", "steps_lost", 1);
    if (p->proved->output >= 0)
        write_recent(device, out);
    for (size_t i = 0; i < vg_proof_kernels(device); i++) {
        const struct vg_proof_kernel *k = vg_proof_kernel(device, i);
#define WRITE(count) write_fact(out, k->name, #count, (unsigned long long)k->count);
        VG_PROOF_COUNTS(WRITE)
#undef WRITE
    }
    if (p->proved->next)
        p->proved = p->proved->next;
}
