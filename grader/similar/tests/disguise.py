"""Disguises a copy: changes names, layout, order, loops, macros and functions, but not
the computation."""
import random
import re

TOKEN = re.compile(r'''(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.]*)|'''
                   r'''(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<sign><<<|>>>|<<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|::|<<|>>|.)''',
                   re.S)
WORDS = set('''alignas auto bool break case char class const constexpr continue decltype default do double else enum extern false float for
goto if inline int long namespace nullptr register restrict return short signed sizeof static static_cast struct switch
template true typedef typename union unsigned using void volatile while size_t ptrdiff_t uint32_t uint64_t int64_t float2 float4
dim3 x y z B M C H W K conv_forward conv_shape conv_workspace s NULL main define undef include ifdef ifndef endif pragma unroll omp
parallel collapse schedule reduction threadIdx blockIdx blockDim gridDim warpSize cooperative_groups make_float2 make_float4 min max
std nvcuda wmma'''.split())


def is_own(name):
    """Whether the author chose this name, so that a disguise may change it."""
    return name not in WORDS and not re.match(r'cuda|__|atomic|conv_|nvcuda|CU|_mm|f?printf|stderr|static_assert|mem|malloc|free|calloc|pthread', name)


def tokens(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def code_lines(text):
    """Splits a text into (is a directive, text), with continued lines joined and without comments."""
    text = ''.join(' ' if kind == 'comment' else value for kind, value in tokens(text))
    return [(line.lstrip().startswith('#'), line) for line in text.replace('\\\n', ' ').split('\n')]


def close_of(text, at):
    """The position after the bracket that matches the bracket at a position."""
    pairs, deep = {'(': ')', '{': '}', '[': ']'}, 0
    for i in range(at, len(text)):
        deep += text[i] == text[at]
        deep -= text[i] == pairs[text[at]]
        if deep == 0:
            return i + 1
    raise ValueError('unbalanced')


def statement_end(text, at):
    """The position after the statement that begins at a position."""
    at += len(text[at:]) - len(text[at:].lstrip())
    if text[at] == '{':
        return close_of(text, at)
    head = re.match(r'(for|while|if)\s*\(|#pragma[^\n]*\n', text[at:])
    if head and head.group(1):
        end = statement_end(text, close_of(text, at + head.end() - 1))
        other = re.match(r'\s*else\b', text[end:])
        return statement_end(text, end + other.end()) if head.group(1) == 'if' and other else end
    if head:
        return statement_end(text, at + head.end())
    deep = 0
    for i in range(at, len(text)):
        deep += text[i] in '({['
        deep -= text[i] in ')}]'
        if text[i] == ';' and deep == 0:
            return i + 1
    raise ValueError('no end')


# ---- the disguises: each function takes a text and returns the disguised text ---------------------------

def rename(text, rng):
    """Replaces all names of the author."""
    stems = ['alpha', 'tmp', 'val', 'cur', 'pos', 'idx', 'row', 'buf', 'acc', 'src', 'dst', 'cnt', 'lim', 'res', 'blk', 'off']
    fields = set(re.findall(r'(?:\.|->)\s*([A-Za-z_]\w*)', text))
    known = {}
    def new(name):
        if name not in known:
            known[name] = f'{rng.choice(stems)}_{len(known)}'
        return known[name]
    out = []
    for line in text.split('\n'):
        if re.match(r'\s*#\s*(include|pragma)', line):
            out.append(line)
            continue
        out.append(''.join(new(v) if kind == 'name' and is_own(v) and v not in fields else v for kind, v in tokens(line)))
    return '\n'.join(out)


def layout(text, rng):
    """Changes line breaks, blanks and comments."""
    out, line = [], ''
    for is_directive, code in code_lines(text):
        if is_directive:
            out += [line, code]
            line = ''
            continue
        for kind, value in tokens(code):
            if kind == 'space':
                continue
            glue = line and (line[-1].isalnum() or line[-1] in '_"') and (value[0].isalnum() or value[0] == '_')
            line += (' ' if glue or rng.random() < .4 else '') + value
            if value in '{};' and rng.random() < .6 or len(line) > 90 and kind == 'sign' and value in ',;{}':
                out.append(' ' * rng.randrange(9) + line + (' // next step' if rng.random() < .1 else ''))
                line = ''
    return '\n'.join(out + [line]) + '\n'


def loops(text, rng):
    """Replaces for by while, and ++ by += 1."""
    at = 0
    while (m := re.compile(r'\bfor\s*\(').search(text, at)):
        head_end = close_of(text, m.end() - 1)
        head = text[m.end():head_end - 1]
        end = statement_end(text, head_end)
        body = text[head_end:end].strip()
        line_before = text[:m.start()].rstrip().rsplit('\n', 1)[-1]
        at = m.end()
        in_macro = '#define' in text[:m.start()].rsplit('\n', 1)[-1]
        if (head.count(';') == 2 and not in_macro and not re.search(r'\b(continue|break)\b', body) and
                '#pragma' not in line_before and rng.random() < .8):
            first, test, step = head.split(';')
            text = (text[:m.start()] + f'{{ {first}; while ({test}) {{ {body} {step}; }} }}' + text[end:])
            at = m.start() + 1
    return re.sub(r'([A-Za-z_]\w*)\+\+(?=\s*[;)])', r'\1 += 1', text)


def macros(text, rng):
    """Replaces constants and loops by macros."""
    out, defines = text, []
    for i, value in enumerate(sorted(set(re.findall(r'(?<![\w.])([2-9]\d|\d{3,})(?![\w.])', text)))):
        lines = [re.sub(rf'(?<![\w.]){value}(?![\w.])', f'SIZE_{i}', line) if not re.match(r'\s*#', line) else line
                 for line in out.split('\n')]
        out = '\n'.join(lines)
        defines.append(f'#define SIZE_{i} {value}')
    simple = re.compile(r'\bfor\s*\((int|unsigned|size_t) (\w+) = 0; \2 < ([\w ]+); (?:\2\+\+|\+\+\2|\2 \+= 1)\)')
    out = '\n'.join(line if re.match(r'\s*#', line) else simple.sub(r'EACH(\1, \2, \3)', line) for line in out.split('\n'))
    defines.append('#define EACH(t, i, n) for (t i = 0; i < (n); i++)')
    return after_includes(out, '\n'.join(defines))


def after_includes(text, more):
    last = [m.end() for m in re.finditer(r'^\s*#\s*include[^\n]*\n', text, re.M)][-1]
    return text[:last] + more + '\n' + text[last:]


def expand(text, rng):
    """Expands the author's own one-line macros."""
    for m in list(re.finditer(r'^#define (\w+)\(([^)]*)\)((?:[^\n\\]|\\\n)*)\n', text, re.M)):
        name, names, body = m.group(1), [n.strip() for n in m.group(2).split(',')], m.group(3).replace('\\\n', ' ').strip()
        if '#' in body or '...' in names or text.count(f'#define {name}(') > 1:
            continue
        text = text.replace(m.group(0), '', 1)
        while (use := re.search(rf'\b{name}\s*\(', text)):
            end = close_of(text, use.end() - 1)
            values, deep, start = [], 0, use.end()
            for i in range(use.end(), end):
                if deep == 0 and (text[i] == ',' or i == end - 1):
                    values.append(text[start:i].strip())
                    start = i + 1
                deep += text[i] in '([{'
                deep -= text[i] in ')]}'
            given = dict(zip(names, values))
            new = ''.join(given.get(v, v) if kind == 'name' else v for kind, v in tokens(body))
            text = text[:use.start()] + new + text[end:]
    return text


def order(text, rng):
    """Swaps neighbouring declarations and the operands of sums and products of two."""
    declared = re.compile(r'(?P<a>(?:const )?(?:int|unsigned|size_t|long|float) (?P<x>\w+) = (?P<p>[^;,{}]*);)(?P<gap>\s*)'
                          r'(?P<b>(?:const )?(?:int|unsigned|size_t|long|float) (?P<y>\w+) = (?P<q>[^;,{}]*);)')
    text = declared.sub(lambda m: m.group(0) if re.search(rf'\b{m["x"]}\b', m['q']) or re.search(r'[-+]{2}|[^=!<>]=[^=]', m['q'])
                        or '(' == text[max(0, m.start() - 1)] else m['b'] + m['gap'] + m['a'], text)
    text = re.sub(r'(?<=[=(\[,] )(\w+\.\w|\w+) \* ([\w]+\.?\w*)(?= [-+);<]|[);\],])', r'\2 * \1', text)
    text = re.sub(r'(?<=[(\[])(\w+) \+ (\w+\.?\w*)(?=[)\]])', r'\2 + \1', text)
    text = re.sub(r'blockIdx\.(\w) \* ([\w.]+) \+ threadIdx\.\1', r'threadIdx.\1 + \2 * blockIdx.\1', text)
    return re.sub(r'(?<=[(;&|] )(\w+) < (\w+)(?= && | \|\| |\))|(?<=\()(\w+) < (\w+)(?= && | \|\| |\))',
                  lambda m: f'{m[2] or m[4]} > {m[1] or m[3]}', text)


def split(text, rng):
    """Replaces expressions by functions."""
    is_cuda, made = '__global__' in text, []
    declared = re.compile(r'(?<=[;{}\s])(const )?int (\w+) = ([^;,{}()?]*[-+*/%][^;,{}?]*?);')
    def cut(m):
        names = sorted(set(re.findall(r'(?<![\w.>])([A-Za-z_]\w*)(?!\w*\s*\()', m[3])) - {'threadIdx', 'blockIdx', 'blockDim', 'int', 'size_t'})
        line = text[:m.start()].rsplit('\n', 1)[-1]
        if (rng.random() < .4 or not names or any(len(n) > 1 and n.isupper() for n in names) or 's' in names or '->' in m[3] or
                'for (' in line[-12:] or '#' in line or '[' in m[3]):
            return m[0]
        f = f'part_{len(made)}'
        if is_cuda:
            types = ', '.join(f'class T{i}' for i in range(len(names)))
            given = ', '.join(f'T{i} {n}' for i, n in enumerate(names))
            made.append(f'template <{types}> __device__ __host__ __forceinline__ int {f}({given}) {{ return {m[3]}; }}')
            if re.search(r'threadIdx|blockIdx|blockDim', m[3]):
                made[-1] = made[-1].replace('__host__ ', '')
        else:
            made.append(f'static int {f}({", ".join("int " + n for n in names)}) {{ return {m[3]}; }}')
        return f'{m[1] or ""}int {m[2]} = {f}({", ".join(names)});'
    text = declared.sub(cut, text)
    return after_includes(text, '\n'.join(made)) if made else text


def dead(text, rng):
    """Adds unused code."""
    kind = '__device__ ' if '__global__' in text else ''
    return after_includes(text, f'static {kind}inline float extra_work(float a, int n) {{ float t = a; for (int j = 0; j < n; j++) '
                                't = t * a + 1.0f; return t; }')


def turn(text, rng):
    """Swaps the branches of if (a) b; else c; and of conditional expressions."""
    return re.sub(r'= ([\w.+ ]+) < (\w+) && ([^?;]*) \? ([^:;]*) : (0(?:\.0f)?);', r'= !(\1 < \2 && \3) ? \5 : \4;', text)


ALL = {'rename': rename, 'layout': layout, 'loops': loops, 'macros': macros, 'expand': expand, 'order': order, 'split': split,
       'dead': dead, 'turn': turn}


def disguise(text, seed):
    """@return the copy, and the names of the disguises that were applied: always names and layout, and at least three
    others"""
    rng = random.Random(f'disguise {seed}')
    text = '\n'.join(line for _, line in code_lines(text))
    others = [n for n in ('expand', 'order', 'turn', 'split', 'loops', 'macros', 'dead')]
    chosen = set(rng.sample(others, rng.randrange(3, len(others) + 1)))
    done = []
    for name in [n for n in others if n in chosen] + ['rename', 'layout']:
        changed = ALL[name](text, rng)
        if changed != text:
            done.append(name)
        text = changed
    return text, done
