#!/usr/bin/env python3
"""Measures how many disguised copies `grader similar` finds, and how many independent solutions it accuses.

    resemblance.py GRADER OUT [--students N] [--copies N] [--half choose|report|again|fresh]

Independent solutions are the programs of N students who choose among the textbooks' design decisions (independent.py).
The thresholds were chosen with the classes `choose`, `report` and `again`; `fresh` was made afterwards. Other students
are in each class. `report` also has the textbook solutions, the references and the right submissions of the technique
sets. Few authors wrote those: pairs that share a function are left out, all others count.
The target is 95% of the copies, in CUDA and in C, in strong or weak pairs, and no independent solution in a strong pair.
Two students who make the same choices write the same program, which looks like a disguised copy; in a short exercise
this happens, and such pairs are weak. disguise.py disguises the copies. Each milestone is a separate class.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import re
import subprocess
import sys
import time

import disguise
import independent

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../../..'))
FIRST_SEED = {'choose': 0, 'report': 100000, 'again': 200000, 'fresh': 300000}


def name_of(part):
    """@return what a part of a file defines, None for a directive of C++. A macro that defines something is called with
    its name first; an enumeration has the name of its first constant."""
    part = re.sub(r'__(launch_bounds|cluster_dims)__\s*\([^)]*\)', '', part)
    part = re.sub(r'^\s*(enum\b[^{]*\{|[A-Z_]+\(|template\s*<[^{;]*?>\s*(?=\w))', '', part)
    if re.match(r'\s*(using|namespace)\b', part):
        return None
    name = re.match(r'[\w\s]*\bstruct\s*\{.*\}\s*(\w+)', part, re.S) or \
        re.search(r'(\w+)\s*(?:\[[^\]]*\]\s*)*[(=;{},]', part)
    return name and name.group(1)


def chunks(text):
    """The parts of a file outside of all braces: (name or None for a directive, text)."""
    part = ''
    for line in text.split('\n'):
        if not part and (line.lstrip().startswith('#') or not line.strip()):
            yield None, line
            continue
        part += line + '\n'
        if part.count('\\\n') and line.endswith('\\'):
            continue
        bare = re.sub(r'/\*.*?\*/|//[^\n]*', '', part, flags=re.S)
        is_whole = all(bare.count(a) == bare.count(b) for a, b in ('{}', '()', ('/*', '*/')))
        if is_whole and bare.strip() and (bare.rstrip()[-1] in ';}' or re.match(r'\s*[A-Z_]+\(', bare)):
            yield name_of(bare), part
            part = ''
        elif not bare.strip():
            yield None, part
            part = ''


def milestone_of(name):
    return re.match(r'[gm]\d+', name).group()


def technique_sets():
    """@return (milestone, name, source, names of the kernels that it uses) for each right submission."""
    folder = f'{ROOT}/grader/tests/techniques'
    for file in sorted(os.listdir(folder)):
        if not file.endswith('.cu') or 'decoys' in file:
            continue
        text = re.sub(r'\\\n', ' ', open(f'{folder}/{file}').read())
        whole = list(chunks(text))
        named = collections.defaultdict(list)
        for name, part in whole:
            named[name].append(part)
        for name in re.findall(r'/\* expect(?: \(long\))?: (?:pass|right|slow|many) \*/\s*int (\w+)\(ARGUMENTS\)', text):
            used, open_names = set(), [name]
            while open_names:
                at = open_names.pop()
                if at in used or at not in named:
                    continue
                used.add(at)
                for part in named[at]:
                    open_names += re.findall(r'\w+', part)
            source = '\n'.join(part for n, part in whole if n is None or n in used)
            source = re.sub(rf'\bint {name}\(ARGUMENTS\)', 'extern "C" int conv_forward(ARGUMENTS)', source)
            shares = {f'{file} {n}' for n in used if n != name}
            headers = ''.join(open(f'{folder}/{h}').read() for h in os.listdir(folder) if h.endswith('.cuh'))
            shares |= {n for n, part in chunks(headers) if n and re.search('<<<|__global__|__device__', part)
                       and re.search(rf'\b{n}\b', source)}
            if 'int conv_forward(' not in source:
                continue  # made by a macro, so it cannot be cut out
            yield milestone_of(file), f'{file[:-3]}-{name}', source, shares


def written(half, students):
    """The independent solutions of a half: (milestone, name, source, shared names)."""
    for i in range(students):
        milestone = list(independent.WRITERS)[i % len(independent.WRITERS)]
        yield milestone, f'student{i:03}', independent.write(milestone, FIRST_SEED[half] + i), set()
    if half == 'report':
        for file in sorted(os.listdir(f'{ROOT}/grader/tests/textbook')):
            if file.endswith('.cu'):
                source = open(f'{ROOT}/grader/tests/textbook/{file}').read()
                yield milestone_of(file), f'textbook-{file[:-3]}', source, {part for name, part in chunks(source) if name}
        for folder in sorted(os.listdir(f'{ROOT}/reference')):
            source = f'{ROOT}/reference/{folder}/conv.c' + ('' if folder.startswith('m1-') else 'u')
            if os.path.exists(source):
                yield milestone_of(folder), f'reference-{folder}', open(source).read(), set()
        yield from technique_sets()


def build(out, milestone, name, source):
    """Writes a source and compiles it. @return whether it compiles"""
    is_cuda = milestone != 'm1'
    path = f'{out}/{milestone}/{name}.{"cu" if is_cuda else "c"}'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and open(path).read() == source and (not is_cuda or os.path.exists(path[:-2] + 'ptx')):
        return True
    with open(path, 'w') as file:
        file.write(source)
    common = [f'-I{ROOT}/common', f'-I{ROOT}/grader/tests/techniques', path]
    # submissions of the technique sets use tensor cores, clusters and asynchronous copies
    arch = f'-arch=compute_{90 if name[0] in "gm" else 80 if int(milestone[1:]) > 10 else 75}'
    command = (['nvcc', '-std=c++17', '-lineinfo', arch, '-O3', '-w', '-ptx', '-o', path[:-2] + 'ptx'] if is_cuda
               else ['gcc', '-std=c11', '-fsyntax-only', '-w']) + common
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        os.remove(path)
        print(f'does not compile: {milestone} {name}: {result.stderr.splitlines()[:1]}')
    return not result.returncode


def pairs_of(grader, folder, least):
    """@return the pairs that grader similar reports in a folder, its seconds, and its message about C code that it
    cannot compile."""
    begin = time.time()
    said = subprocess.run([grader, 'similar', folder, '--out', f'{folder}.html', '--table', f'{folder}.tsv'] +
                   (['--least', str(least)] if least else []), check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split('\t') for line in open(f'{folder}.tsv').read().splitlines()[1:]]
    text_only = re.search(r'(?m)^Sources without kernels compared only as text.*', said)
    return [(frozenset(r[1:3]), r[3], float(r[4]), r[6] == 'strong') for r in rows], time.time() - begin, text_only and text_only.group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('grader')
    parser.add_argument('out')
    parser.add_argument('--students', type=int, default=300)
    parser.add_argument('--copies', type=int, default=50)
    parser.add_argument('--half', choices=list(FIRST_SEED), default='report')
    parser.add_argument('--least', type=int, default=0)
    parser.add_argument('--milestones', default='')
    a = parser.parse_args()
    works = [w for w in written(a.half, a.students) if not a.milestones or w[0] in a.milestones.split(',')]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        good = list(pool.map(lambda w: build(a.out, *w[:3]), works))
        works = [w for w, ok in zip(works, good) if ok]
        rng, copies = random.Random(a.half), {}
        originals = [w for w in works if w[1].startswith(('student', 'textbook'))]
        originals = [w for w in originals if w[0] != 'm1'] + [w for w in originals if w[0] == 'm1']
        cuda = [w for w in originals if w[0] != 'm1']
        chosen = rng.sample(cuda, min(a.copies, len(cuda))) + rng.sample(
            [w for w in originals if w[0] == 'm1'], min(a.copies * 4 // 5, sum(w[0] == 'm1' for w in originals)))
        made = [(w[0], f'copy-of-{w[1]}', *disguise.disguise(w[2], f'{a.half} {w[0]} {w[1]}')) for w in chosen]
        for (milestone, name, _, how), ok in zip(made, pool.map(lambda m: build(a.out, *m[:3]), made)):
            if ok:
                copies[milestone, name] = how
    found, listed, false, weak, seconds, compared, left_out = set(), set(), [], [], 0, 0, 0
    for milestone in sorted({w[0] for w in works}):
        mine = {w[1]: w[3] for w in works if w[0] == milestone}
        compared += sum(not (mine[x] & mine[y]) for x, y in itertools.combinations(mine, 2))
        left_out += sum(bool(mine[x] & mine[y]) for x, y in itertools.combinations(mine, 2))
        reported, spent, why = pairs_of(a.grader, f'{a.out}/{milestone}', a.least)
        seconds = max(seconds, spent)
        if why and milestone == 'm1':
            print(f'skip  copies of C: {why}')
            copies = {c: how for c, how in copies.items() if c[0] != 'm1'}
        for who, how, score, is_strong in reported:
            first, second = sorted(who)
            original = {w.removeprefix('copy-of-') for w in who}
            if len(original) == 1:
                copy = (milestone, first if first.startswith('copy-of-') else second)
                (found if is_strong else listed).add(copy)
                if a.least:
                    print(f'copy\t{milestone}\t{score}\t{original}\t{how}')
            elif first in mine and second in mine and not mine[first] & mine[second]:
                (false if is_strong else weak).append((milestone, first, second, how, score))
    for c in sorted(copies):
        if c not in found | listed:
            print(f'not found: {c[0]} {c[1]} ({", ".join(copies[c])})')
    for kind, pairs in (('accused', false), ('weak', weak)):
        for f in pairs:
            print(kind + ': {} {} and {}: {}, {}'.format(*f))
    def students(pairs, is_c):
        return len({(f[0], who) for f in pairs for who in f[1:3] if (f[0] == 'm1') == is_c})
    for name, is_c in (('CUDA', False), ('C', True)):
        n = [c for c in copies if (c[0] == 'm1') == is_c]
        independents = [w for w in works if (w[0] == 'm1') == is_c]
        print(f'{name}: {sum(c in found | listed for c in n)} of {len(n)} disguised copies found, {sum(c in found for c in n)} '
              f'of them in a strong pair; of {len(independents)} independent solutions {students(false, is_c)} accused, '
              f'{students(weak, is_c)} in weak pairs')
    print(f'{compared} pairs of independent solutions (another {left_out} share a function and do not count); largest class '
          f'compared in {seconds:.1f} s')
    kinds = [[c for c in copies if (c[0] == 'm1') == is_c] for is_c in (False, True)]
    enough = all(sum(c in found | listed for c in kind) >= .95 * len(kind) for kind in kinds)
    return not (copies and enough and not false)


if __name__ == '__main__':
    sys.exit(main())
