#include "vgpu/device/session_proof.h"

#include "base/tsv.h"
#include "vgpu/exec/proof_field.h"

#include <stdlib.h>
#include <string.h>

bool session_proof_shape(const char *text, struct conv_shape *to)
{
    char end;
    return sscanf(text, "%d,%d,%d,%d,%d,%d%c", &to->B, &to->M, &to->C, &to->H, &to->W, &to->K,
                  &end) == 6 &&
           to->B > 0 && to->M > 0 && to->C > 0 && to->K > 0 && to->H >= to->K && to->W >= to->K;
}

enum st_code session_proof_start(struct session_proof *p, struct vg_device *device,
                                 struct st_error *err)
{
    *p = (struct session_proof){.shape = p->shape};
    return p->shape ? vg_proof_start(device, err) : ST_OK;
}

bool session_proof_upload(struct session_proof *p, struct vg_device *device, uint64_t address,
                          size_t bytes)
{
    if (!p->shape)
        return true;
    if (p->tensors == 0 || p->address[p->tensors - 1] != address) {
        if (p->tensors == VG_PROOF_TENSORS)
            return true;
        p->address[p->tensors++] = address;
    }
    return vg_proof_tensor(device, (enum vg_proof_tensor)(p->tensors - 1), address, bytes);
}

/* ---- judging -------------------------------------------------------------------------------- */

struct operands {
    const struct conv_shape *shape;
    const uint32_t *x, *k;
};

/* The element of an output. */
static uint32_t element_of(const struct operands *o, int b, int m, int h, int w)
{
    const struct conv_shape *s = o->shape;
    uint64_t sum = 0;
    for (int c = 0; c < s->C; c++)
        for (int p = 0; p < s->K; p++) {
            const size_t image = (size_t)b * (size_t)s->C + (size_t)c;
            const uint32_t *x = o->x + (image * (size_t)s->H + (size_t)(h + p)) * (size_t)s->W;
            const size_t map = (size_t)m * (size_t)s->C + (size_t)c;
            const uint32_t *k = o->k + (map * (size_t)s->K + (size_t)p) * (size_t)s->K;
            for (int q = 0; q < s->K; q++)
                sum = field_reduce(sum + (uint64_t)x[w + q] * k[q]);
        }
    return (uint32_t)sum;
}

static void add_word(struct proof_totals *t, const struct vg_proof_word *word, bool right, size_t i)
{
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
    t->largest_part += word->largest_part;
    t->without_x_shared += word->x_shared == 0;
}

static void judge(struct session_proof *p, const struct vg_device *device)
{
    const struct conv_shape *s = p->shape;
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
                    const bool right =
                        word.has_element && word.element == element_of(&o, b, m, h, w);
                    add_word(&p->totals, &word, right, i);
                }
}

void session_proof_free(struct session_proof *p, struct vg_device *device, uint64_t address)
{
    for (int i = 0; p->shape && !p->judged && i < p->tensors; i++)
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

void session_proof_write(struct session_proof *p, struct vg_device *device, FILE *out)
{
    if (!p->shape || p->tensors == 0)
        return;
    if (!p->judged)
        judge(p, device);
#define WRITE(name) write_fact(out, "", #name, p->totals.name);
    PROOF_TOTALS(WRITE)
#undef WRITE
    for (size_t i = 0; i < vg_proof_kernels(device); i++) {
        const struct vg_proof_kernel *k = vg_proof_kernel(device, i);
#define WRITE(count) write_fact(out, k->name, #count, (unsigned long long)k->count);
        VG_PROOF_COUNTS(WRITE)
#undef WRITE
    }
}
