"""Right solutions of students who work independently: each chooses separately among the design decisions of the
textbooks (what a thread computes, tile, staging, loop order, index arithmetic, guards, types, how arguments are
passed). Comments, layout and names do not count, because a copy differs in them too."""
import random

HEAD = '#include "conv.h"\n'
FAIL = 'return cudaGetLastError() == cudaSuccess ? 0 : 1;'


class Style:
    """The decisions of one student."""

    def __init__(self, rng):
        self.rng = rng
        pick = rng.choice
        self.index = pick(['macro', 'flat', 'rows', 'call', 'strides'])
        self.wide = pick(['int', 'size_t', 'unsigned', 'long'])
        self.small = pick(['int', 'int', 'unsigned'])
        self.order = pick(['cpq', 'cpq', 'pqc', 'cqp', 'pcq', 'one'])
        self.sums = pick(['one', 'one', 'each', 'row'])
        self.guard = pick(['return', 'if', 'two', 'flag'])
        self.passed = pick(['struct', 'all', 'sizes'])
        self.block = pick([(16, 16), (32, 8), (8, 8), (32, 4), (16, 8), (32, 32)])
        self.step = pick(['++', '+='])

    def params(self):
        return {'struct': 'const float *x, const float *k, float *y, struct conv_shape s',
                'all': 'float *y, const float *x, const float *k, int B, int M, int C, int H, int W, int K',
                'sizes': 'const float *x, const float *k, float *y, int B, int M, int C, int H, int W, int K, '
                         'int H_out, int W_out'}[self.passed]

    def args(self, k='k', x='x', y='y'):
        return {'struct': f'{x}, {k}, {y}, *s', 'all': f'{y}, {x}, {k}, B, M, C, H, W, K',
                'sizes': f'{x}, {k}, {y}, B, M, C, H, W, K, H_out, W_out'}[self.passed]

    def sizes(self, of='s.'):
        out = 'const int H_out = H - K + 1, W_out = W - K + 1; (void)H_out; (void)W_out;'
        own = f'const int B = {of}B, M = {of}M, C = {of}C, H = {of}H, W = {of}W, K = {of}K; (void)B; (void)M; (void)C; '
        if of == 's->' or self.passed == 'struct':
            return own + out
        return out if self.passed == 'all' else ''

    def helper(self):
        """The text at the beginning of the file."""
        if self.index == 'call':
            return (f'__device__ inline {self.wide} at4({self.wide} a, {self.wide} b, {self.wide} c, {self.wide} d, '
                    f'{self.wide} nb, {self.wide} nc, {self.wide} nd) {{ return ((a * nb + b) * nc + c) * nd + d; }}\n')
        if self.index == 'macro':
            t = self.wide
            return (f'#define X4(b, c, h, w) x[((({t})(b) * C + (c)) * H + (h)) * W + (w)]\n'
                    f'#define K4(m, c, p, q) k[((({t})(m) * C + (c)) * K + (p)) * K + (q)]\n'
                    f'#define Y4(b, m, h, w) y[((({t})(b) * M + (m)) * H_out + (h)) * W_out + (w)]\n')
        return ''

    def at(self, array, a, b, c, d):
        t = self.wide
        nb, nc, nd = {'x': 'CHW', 'k': 'CKK', 'y': ('M', 'H_out', 'W_out')}[array]
        if self.index == 'macro':
            return f'{array.upper()}4({a}, {b}, {c}, {d})'
        if self.index == 'call':
            return f'{array}[at4({a}, {b}, {c}, {d}, {nb}, {nc}, {nd})]'
        if self.index == 'flat':
            return f'{array}[({t})({a}) * {nb} * {nc} * {nd} + ({b}) * {nc} * {nd} + ({c}) * {nd} + ({d})]'
        if self.index == 'rows':
            return f'({array} + (({t})({a}) * {nb} + ({b})) * ({nc} * {nd}))[({c}) * {nd} + ({d})]'
        return f'{array}[({d}) + {nd} * (({c}) + {nc} * (({b}) + ({t}){nb} * ({a})))]'

    def loop(self, name, to, start='0', by='1'):
        step = f'{name}++' if by == '1' and self.step == '++' else f'{name} += {by}'
        return f'for ({self.small} {name} = {start}; {name} < {to}; {step})'

    def guarded(self, conditions, body):
        """The code that runs the body if all conditions hold."""
        if self.guard == 'return':
            return f'if ({" || ".join(f"!({c})" for c in conditions)}) return;\n{body}'
        if self.guard == 'if':
            return f'if ({" && ".join(conditions)}) {{\n{body}\n}}'
        if self.guard == 'two':
            return ''.join(f'if (!({c})) return;\n' for c in conditions) + body
        return f'const bool inside = {" & ".join(f"({c})" for c in conditions)};\nif (inside) {{\n{body}\n}}'

    def taps(self, term):
        """The sum over c, p, q of term."""
        if self.order == 'one':
            return (f'float sum = 0;\n{self.loop("r", "C * K * K")} {{ const int c = r / (K * K), p = r / K % K, q = r % K; '
                    f'sum += {term}; }}')
        a, b, c = self.order
        bound = {'c': 'C', 'p': 'K', 'q': 'K'}
        if self.sums == 'each':
            return (f'float sum = 0;\n{self.loop(a, bound[a])} {{ float part = 0; {self.loop(b, bound[b])} '
                    f'{self.loop(c, bound[c])} part += {term}; sum += part; }}')
        if self.sums == 'row':
            return (f'float sum = 0;\n{self.loop(a, bound[a])} {self.loop(b, bound[b])} {{ float part = 0; '
                    f'{self.loop(c, bound[c])} part = part + {term}; sum += part; }}')
        return (f'float sum = 0;\n{self.loop(a, bound[a])} {self.loop(b, bound[b])} {self.loop(c, bound[c])} '
                f'sum += {term};')


def thread_of(s, inner, per_map=False):
    """How outputs are assigned to threads: (declarations, conditions, grid, block)."""
    bx, by = s.block
    tiles = f'const int tiles = (W_out + {bx} - 1) / {bx};'
    kinds = {
        'xy_z': (f'const int w = blockIdx.x * {bx} + threadIdx.x, h = blockIdx.y * {by} + threadIdx.y, '
                 'b = blockIdx.z / M, m = blockIdx.z % M;', ['w < W_out', 'h < H_out'],
                 f'dim3((W_out + {bx - 1}) / {bx}, (H_out + {by - 1}) / {by}, B * M)'),
        'xy_z2': (f'const int h = blockIdx.y * blockDim.y + threadIdx.y; const int w = blockIdx.x * blockDim.x + '
                  'threadIdx.x; const int m = blockIdx.z / B; const int b = blockIdx.z - m * B;',
                  ['h < H_out', 'w < W_out'], f'dim3((W_out - 1) / {bx} + 1, (H_out - 1) / {by} + 1, M * B)'),
        'tiles': (f'{tiles} const int m = blockIdx.x, b = blockIdx.z, h = blockIdx.y / tiles * {by} + threadIdx.y, '
                  f'w = blockIdx.y % tiles * {bx} + threadIdx.x;', ['h < H_out', 'w < W_out'],
                  f'dim3(M, ((W_out + {bx} - 1) / {bx}) * ((H_out + {by} - 1) / {by}), B)'),
        'image_x': (f'{tiles} const int b = blockIdx.x, m = blockIdx.y, t = blockIdx.z; const int h = t / tiles * {by} + '
                    f'threadIdx.y; const int w = (t % tiles) * {bx} + threadIdx.x;', ['h < H_out && w < W_out'],
                    f'dim3(B, M, ((W_out + {bx} - 1) / {bx}) * ((H_out + {by} - 1) / {by}))'),
    }
    flat = {
        'flat': (f'const {s.wide} i = blockIdx.x * blockDim.x + threadIdx.x; const int w = i % W_out, h = i / W_out % '
                 'H_out, m = i / W_out / H_out % M, b = i / W_out / H_out / M;', ['b < B'],
                 f'dim3(((size_t)B * M * H_out * W_out + {bx * by - 1}) / {bx * by})'),
        'flat2': (f'{s.wide} i = threadIdx.x + blockIdx.x * {bx * by}; const int b = i / (M * H_out * W_out); i -= '
                  f'({s.wide})b * (M * H_out * W_out); const int m = i / (H_out * W_out); i -= m * (H_out * W_out); '
                  'const int h = i / W_out; const int w = i - h * W_out;', ['b < B'],
                  f'dim3(((size_t)B * M * H_out * W_out - 1) / {bx * by} + 1)'),
        'pixel': ('const int o = blockIdx.x * blockDim.x + threadIdx.x; const int h = o / W_out, w = o % W_out, '
                  'm = blockIdx.y, b = blockIdx.z;', ['o < H_out * W_out'],
                  f'dim3((H_out * W_out + {bx * by - 1}) / {bx * by}, M, B)'),
        'map': ('const int m = blockIdx.x % M, b = blockIdx.x / M; const int o = threadIdx.x + blockDim.x * blockIdx.y; '
                'const int w = o % W_out, h = o / W_out;', ['h < H_out'],
                f'dim3(M * B, (H_out * W_out + {bx * by - 1}) / {bx * by})'),
    }
    name = s.rng.choice(list(kinds) + ([] if inner else list(flat)))
    declared, conditions, grid = {**kinds, **flat}[name]
    return declared, conditions, grid, f'dim3({bx}, {by})' if name in kinds else f'dim3({bx * by})'


def forward(s, text):
    return ('extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)\n{\n'
            f'{s.sizes("s->")}\n{text}\n{FAIL}\n}}\n')


def plain(s, name='conv', weight=None):
    """One thread per output: the kernel and its launch."""
    declared, conditions, grid, block = thread_of(s, False)
    body = s.taps(f'{s.at("x", "b", "c", "h + p", "w + q")} * {weight or s.at("k", "m", "c", "p", "q")}')
    return (f'__global__ void {name}({s.params()})\n{{\n{s.sizes()}\n{declared}\n' +
            s.guarded(conditions, f'{body}\n{s.at("y", "b", "m", "h", "w")} = sum;') + '\n}\n',
            f'{name}<<<{grid}, {block}>>>({s.args()});')


def m2(rng):
    s = Style(rng)
    kernel, launch = plain(s)
    return HEAD + s.helper() + kernel + forward(s, launch)


def staged(s, rng):
    """Loads a tile of x into shared memory, one or several channels at a time: (arrays, load, term)."""
    bx, by = s.block
    side_x, side_y, deep = bx + 6, by + 6, rng.choice([1, 1, 2, 4])
    layout = rng.choice(['cube', 'line'])
    threads = bx * by
    shared = (f'__shared__ float tile[{deep}][{side_y}][{side_x}];' if layout == 'cube'
              else f'__shared__ float tile[{deep * side_x * side_y}];')
    at = (lambda c, h, w: f'tile[{c}][{h}][{w}]') if layout == 'cube' else (
        lambda c, h, w: f'tile[(({c}) * {side_y} + {h}) * {side_x} + {w}]')
    source = s.at('x', 'b', 'c0 + d', 'h0 + i', 'w0 + j')
    inside = 'h0 + i < H && w0 + j < W' + (' && c0 + d < C' if deep > 1 else '')
    cell = f'{at("d", "i", "j")} = {inside} ? {source} : 0.0f;'
    if rng.random() < .3:
        cell = f'if ({inside}) {at("d", "i", "j")} = {source}; else {at("d", "i", "j")} = 0.0f;'
    wide, high = rng.choice([(f'({bx} + K - 1)', f'({by} + K - 1)'), (side_x, side_y)])
    how = rng.choice(['two', 'two', 'one', 'cells'])
    if how == 'two':
        load = (s.loop('d', deep) + ' ' + s.loop('i', high, 'threadIdx.y', by) + ' ' +
                s.loop('j', wide, 'threadIdx.x', bx) + ' { ' + cell + ' }')
    elif how == 'one':
        load = (f'{s.loop("d", deep)} {s.loop("e", f"{wide} * {high}", f"threadIdx.y * {bx} + threadIdx.x", threads)} '
                f'{{ const int i = e / {wide}, j = e % {wide}; {cell} }}')
    else:
        load = (f'{s.loop("e", f"{deep} * {wide} * {high}", f"threadIdx.x + {bx} * threadIdx.y", threads)} {{ const int '
                f'd = e / ({wide} * {high}), i = e / {wide} % {high}, j = e % {wide}; {cell} }}')
    return shared, load, at, deep


def m3(rng, constant=False):
    s = Style(rng)
    bx, by = s.block
    declared, conditions, grid, block = thread_of(s, True)
    shared, load, at, deep = staged(s, rng)
    kernel = rng.choice(['global', 'global', 'shared']) if not constant else 'constant'
    weight = s.at('k', 'm', 'c0 + d', 'p', 'q')
    if kernel == 'shared':
        shared += f' __shared__ float s_k[{deep}][49];'
        load += (f'\n{s.loop("e", f"{deep} * K * K", f"threadIdx.y * {bx} + threadIdx.x", bx * by)} if (c0 + e / (K * K) '
                 f'< C) s_k[e / (K * K)][e % (K * K)] = k[(m * C + c0) * K * K + e];')
        weight = 's_k[d][p * K + q]'
    elif kernel == 'constant':
        weight = rng.choice(['weights[((m * C + c0 + d) * K + p) * K + q]', 'weights[m * C * K * K + (c0 + d) * K * K + p * K + q]',
                             'weights[(m * C + (c0 + d)) * (K * K) + (p * K + q)]'])
    origin = rng.choice(['const int h0 = h - threadIdx.y, w0 = w - threadIdx.x;',
                         'const int w0 = w / %d * %d, h0 = h / %d * %d;' % (bx, bx, by, by)])
    product = f'{at("d", "threadIdx.y + p", "threadIdx.x + q")} * {weight}'
    a, b = rng.choice(['pq', 'qp'])
    limit = f'd < {deep} && c0 + d < C' if deep > 1 else None
    inner = f'{s.loop(a, "K")} {s.loop(b, "K")} sum += {product};'
    inner = f'for (int d = 0; {limit}; d++) {{ {inner} }}' if limit else f'{{ const int d = 0; {inner} }}'
    inside = ' && '.join(conditions)
    where = rng.choice(['around', 'end'])
    if where == 'around':
        inner = f'if ({inside}) {{ {inner} }}'
    if deep == 1:
        load = load.replace(s.loop('d', 1) + ' ', '{ const int d = 0; ', 1) + (' }' if s.loop('d', 1) in load else '')
    return (s.helper(), s, f'__global__ void conv({s.params()})\n{{\n{s.sizes()}\n{shared}\n{declared}\n{origin}\nfloat '
            f'sum = 0;\nfor (int c0 = 0; c0 < C; c0 += {deep}) {{\n{load}\n__syncthreads();\n{inner}\n__syncthreads();\n}}\n'
            f'if ({inside}) {s.at("y", "b", "m", "h", "w")} = sum;\n}}\n', grid, block)


def m3_text(rng):
    helper, s, kernel, grid, block = m3(rng)
    large, launch = plain(s, 'any_size')
    return (HEAD + helper + large + kernel +
            forward(s, f'if (K > 7) {{ {launch} }} else conv<<<{grid}, {block}>>>({s.args()});'))


def m4(rng):
    weight = rng.choice(['weights[((m * C + c) * K + p) * K + q]', 'weights[m * C * K * K + c * K * K + p * K + q]',
                         'weights[(m * C + c) * (K * K) + (p * K + q)]', 'weights[q + K * (p + K * (c + C * m))]'])
    if rng.random() < .5:
        helper, s, kernel, grid, block = m3(rng, True)
        launch = f'conv<<<{grid}, {block}>>>({s.args()});'
    else:
        s = Style(rng)
        helper = s.helper()
        kernel, launch = plain(s, 'conv', weight)
    room = rng.choice([16384, 4096, 8192, 12000])
    large, fallback = plain(s, 'any_size')
    return (HEAD + helper + f'__constant__ float weights[{room}];\n' + large + kernel +
            forward(s, f'if (M * C * K * K > {room} || K > 7) {{ {fallback} }} else {{ cudaMemcpyToSymbolAsync(weights, k, '
                       f'(size_t)M * C * K * K * sizeof(float), 0, cudaMemcpyDeviceToDevice);\n{launch} }}'))


def product(s, rng, fused):
    """y = k * u, tile by tile: a kernel that reads u from memory, or its elements directly from x."""
    tile = rng.choice([8, 16, 32])
    pad = rng.choice(['', ' + 1'])
    swapped = rng.random() < .4
    batch = fused or rng.random() < .5
    columns = 'B * H_out * W_out' if batch else 'H_out * W_out'
    u = 'u[r * columns + col]' if rng.random() < .7 else 'u[col + r * columns]'
    place = ('const int b = col / (H_out * W_out), o = col % (H_out * W_out);' if rng.random() < .5 else
             'const int b = col / H_out / W_out; const int o = col - b * H_out * W_out;') if batch else \
        'const int b = image, o = col;'
    if fused:
        rc = rng.choice(['const int c = r / (K * K), p = r / K % K, q = r % K;',
                         'const int c = r / K / K; const int e = r - c * K * K; const int p = e / K, q = e % K;'])
        u = s.at('x', 'b', 'c', 'o / W_out + p', 'o % W_out + q')
    t = rng.choice(['const int tx = threadIdx.x, ty = threadIdx.y;', 'const int ty = threadIdx.y; const int tx = threadIdx.x;'])
    where = f'const int m = blockIdx.y * {tile} + ty; const {s.small} col = blockIdx.x * {tile} + tx;'
    load_k = f'm < M && r0 + tx < rows ? k[m * rows + r0 + tx] : 0.0f'
    inside = f'col < columns && r0 + ty < rows'
    load_u = f'const int r = r0 + ty; ' + (rc if fused else '') + f' s_u[ty][tx] = {u};'
    fill = f's_k[ty][tx] = {load_k}; if ({inside}) {{ {load_u} }} else s_u[ty][tx] = 0.0f;'
    if rng.random() < .4:
        fill = f'if (m < M && r0 + tx < rows) s_k[ty][tx] = k[m * rows + r0 + tx]; else s_k[ty][tx] = 0; s_u[ty][tx] = 0; if ({inside}) {{ {load_u} }}'
    if swapped:
        fill = fill.replace('s_k[ty][tx]', 's_k[tx][ty]')
    term = ('s_k[i][ty]' if swapped else 's_k[ty][i]') + ' * s_u[i][tx]'
    unroll = rng.choice(['#pragma unroll\n', '', '#pragma unroll 4\n'])
    steps = rng.choice([f'for (int r0 = 0; r0 < rows; r0 += {tile})',
                        f'for (int n = 0, r0 = 0; n < (rows + {tile - 1}) / {tile}; n++, r0 += {tile})'])
    out = rng.choice(['y[(b * M + m) * (H_out * W_out) + o] = sum;', 'y[(size_t)b * M * H_out * W_out + m * H_out * W_out + o] = sum;',
                      'y[((size_t)b * M + m) * H_out * W_out + o] = sum;'])
    early = f'{place}' if fused else ''
    late = '' if fused else place
    extra = '' if fused else ', const float *u, int image'
    text = (f'__global__ void multiply({s.params()}{extra})\n{{\n{s.sizes()}\n__shared__ float s_k[{tile}][{tile}{pad}], '
            f's_u[{tile}][{tile}];\n{t}\n{where}\nconst int rows = C * K * K; const {s.small} columns = {columns};\n{early}\nfloat sum = '
            f'0;\n{steps} {{\n{fill}\n__syncthreads();\n{unroll}for (int i = 0; i < {tile}; i++) sum += {term};\n'
            f'__syncthreads();\n}}\nif (m < M && col < columns) {{ {late} {out} }}\n}}\n')
    grid = f'dim3(({columns} + {tile - 1}) / {tile}, (M + {tile - 1}) / {tile}), dim3({tile}, {tile})'
    return text, grid, batch


def unroll(s, rng, batch):
    """A kernel that writes u, the windows of x."""
    n = rng.choice([128, 256, 512])
    columns = 'B * H_out * W_out' if batch else 'H_out * W_out'
    kind = rng.choice(['cell', 'window', 'column', 'row'])
    if kind == 'cell':
        where = (f'const {s.wide} i = ({s.wide})blockIdx.x * {n} + threadIdx.x; const int col = i % columns; const int r = i / '
                 'columns;')
        guard, total = 'r < C * K * K', f'(size_t)C * K * K * {columns}'
    elif kind == 'row':
        where = f'const int col = blockIdx.x * {n} + threadIdx.x, r = blockIdx.y;'
        guard, total = 'col < columns', None
    else:
        where = f'const int i = blockIdx.x * blockDim.x + threadIdx.x; const int col = i % columns, c = i / columns;' \
            if kind == 'window' else f'const int col = blockIdx.x * blockDim.x + threadIdx.x;'
        guard, total = ('c < C', f'(size_t)C * {columns}') if kind == 'window' else ('col < columns', columns)
    image = 'const int b = col / (H_out * W_out), o = col % (H_out * W_out);' if batch else 'const int b = image, o = col;'
    image += rng.choice([' const int h = o / W_out, w = o % W_out;', ' const int h = o / W_out; const int w = o - h * W_out;'])
    if kind in ('cell', 'row'):
        work = (rng.choice(['const int c = r / (K * K), p = r / K % K, q = r % K;',
                            'const int q = r % K, p = r / K % K, c = r / K / K;']) +
                f' u[({s.wide})r * columns + col] = {s.at("x", "b", "c", "h + p", "w + q")};')
    else:
        store = f'u[({s.wide})((c * K + p) * K + q) * columns + col] = {s.at("x", "b", "c", "h + p", "w + q")};'
        a, b = rng.choice(['pq', 'qp'])
        work = f'{s.loop(a, "K")} {s.loop(b, "K")} {store}'
        if kind == 'column':
            work = f'{s.loop("c", "C")} {work}'
    text = (f'__global__ void unroll({s.params()}, float *u, int image)\n{{\n{s.sizes()}\nconst int columns = {columns};\n'
            f'{where}\n' + s.guarded([guard], f'{image}\n{work}') + '\n}\n')
    grid = f'dim3(({columns} + {n - 1}) / {n}, C * K * K), {n}' if total is None else f'dim3(({total} + {n - 1}) / {n}), {n}'
    return text, grid


def m5(rng):
    s = Style(rng)
    multiply, grid, batch = product(s, rng, False)
    make, make_grid = unroll(s, rng, batch)
    calls = (f'unroll<<<{make_grid}>>>({s.args()}, u, {{0}});\nmultiply<<<{grid}>>>({s.args()}, u, {{0}});')
    calls = calls.format('0') if batch else f'for (int b = 0; b < B; b++) {{ {calls.format("b")} }}'
    size = f'(size_t)C * K * K * H_out * W_out * {"B" if batch else "1"} * sizeof(float)'
    return (HEAD + s.helper() + make + multiply +
            forward(s, f'float *u = (float *)conv_workspace({size});\nif (!u) return 1;\n{calls}'))


def m6(rng):
    s = Style(rng)
    multiply, grid, _ = product(s, rng, True)
    return HEAD + s.helper() + multiply + forward(s, f'multiply<<<{grid}>>>({s.args()});')


def m1(rng):
    s = Style(rng)
    if s.index == 'call':
        s.index = 'flat'
    names = ['b', 'm', 'h', 'w']
    if rng.random() < .3:
        names = rng.choice([['m', 'b', 'h', 'w'], ['b', 'h', 'w', 'm'], ['b', 'm', 'w', 'h']])
    bound = {'b': 'B', 'm': 'M', 'h': 'H_out', 'w': 'W_out'}
    term = f'{s.at("x", "b", "c", "h + p", "w + q")} * {s.at("k", "m", "c", "p", "q")}'
    how = rng.choice(['sum', 'sum', 'direct', 'lines', 'split'])
    y = s.at('y', 'b', 'm', 'h', 'w')
    if how == 'sum':
        body = f'{s.taps(term)}\n{y} = sum;'
    elif how == 'direct':
        body = (f'{y} = 0;\n' + ' '.join(s.loop(v, {'c': 'C', 'p': 'K', 'q': 'K'}[v]) for v in rng.choice(['cpq', 'pqc', 'cqp'])) +
                f' {y} += {term};')
    elif how == 'lines':
        body = (f'float sum = 0;\n{s.loop("c", "C")} {{ const float *xc = &{s.at("x", "b", "c", "h", "w")}; const float *kc = '
                f'&{s.at("k", "m", "c", "0", "0")}; {s.loop("p", "K")} {{ {s.loop("q", "K")} sum += xc[q] * kc[q]; xc += W; '
                f'kc += K; }} }}\n{y} = sum;')
    else:
        body = f'{y} = one(s, x, k, b, m, h, w);'
    loops = ' '.join(s.loop(v, bound[v]) for v in names)
    if rng.random() < .2 and names[0] == 'b':
        loops = ' '.join(s.loop(v, bound[v]) for v in ['b', 'm']) + f' {s.loop("o", "H_out * W_out")}'
        body = f'const int h = o / W_out, w = o % W_out;\n{body}'
    sizes = s.sizes('s->')
    helper = s.helper()
    if how == 'split':
        helper += ('static float one(const struct conv_shape *s, const float *x, const float *k, int b, int m, int h, int w)'
                   f'\n{{\n{sizes}\n{s.taps(term)}\nreturn sum;\n}}\n')
    return (HEAD + helper + 'int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)\n{\n'
            f'{sizes}\n{loops} {{\n{body}\n}}\nreturn 0;\n}}\n')


WRITERS = {'m1': m1, 'm2': m2, 'm3': m3_text, 'm4': m4, 'm5': m5, 'm6': m6}


def write(milestone, seed):
    # All students have the same names and layout. The comment prevents that equal programs are equal byte for byte.
    return WRITERS[milestone](random.Random(f'{milestone} {seed}')) + f'// {milestone} {seed}\n'
