#!/usr/bin/env python3
"""Writes the submissions of a class from the suite's own right, wrong and cheating sources. The same arguments
write the same files.

    submissions.py N FOLDER MILESTONES [--rename]

FOLDER/I/mX-NAME/conv.* is the source of submission I (1 to N); FOLDER/kinds.tsv lists each source with its kind: right,
wrong (mutants, cheats, and solutions without the technique) or noise. With --rename, each source except the cheats gets
its own names and layout.
"""
import argparse
import glob
import gzip
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(f'{HERE}/../../..')
TESTS = f'{ROOT}/grader/tests'
sys.path.insert(0, f'{ROOT}/grader/similar/tests')
sys.dont_write_bytecode = True
import disguise  # noqa: E402

# Excluded from all classes: submissions that end only at a limit of at least ten seconds, or that disturb others.
SLOW = re.compile(r'/_|/loops|late_|huge_memory|prints_ten|waits|memory|forges_reply|endless|takes_|models_only|when_few')


def folder_of(milestone):
    return os.path.basename(glob.glob(f'{ROOT}/labs/{milestone}-*')[0])


def cheats(milestone):
    """@return the cheats of a milestone that the grader rejects even with one image."""
    rows = [line.split('\t') for line in open(f'{TESTS}/cheats/cheats.tsv').read().splitlines()[1:]]
    return [f'{TESTS}/{r[2]}' for r in rows if r[3:6] == [milestone, '1', 'rejected'] and r[7] == 'yes']


def pools(milestone):
    """@return right and wrong files. For a technique, the wrong files are right solutions of the previous milestone."""
    suffix = 'c' if milestone == 'm1' else 'cu'
    right = [f'{ROOT}/reference/{folder_of(milestone)}/conv.{suffix}']
    right += sorted(glob.glob(f'{TESTS}/textbook/{milestone}_*.cu'))
    wrong = sorted(glob.glob(f'{TESTS}/mutants/*.c')) if milestone == 'm1' else (
        sorted(glob.glob(f'{TESTS}/mutants_cuda/*.cu')) if milestone == 'm2' else
        sorted(glob.glob(f'{TESTS}/textbook/m{int(milestone[1:]) - 1}_*.cu')))
    return right, [w for w in wrong + cheats(milestone) if not SLOW.search(w[len(TESTS):])]


def inline(path):
    """@return the text of a file, with its includes of test files replaced by the included texts."""
    text = []
    for line in open(path, errors='surrogateescape').read().split('\n'):
        m = re.match(r'#include "([\w.]+\.(?:h|cuh|inc|c))"', line)
        found = m and [f for d in (os.path.dirname(path), f'{TESTS}/mutants', f'{TESTS}/mutants_cuda')
                       if os.path.exists(f := f'{d}/{m.group(1)}')]
        text.append(inline(found[0]) if found else line)
    return '\n'.join(text)


def renamed(text, suffix, seed):
    """@return the source with other names, if it still compiles."""
    rng = random.Random(seed)
    bare = '\n'.join(line for _, line in disguise.code_lines(text))
    other = disguise.layout(disguise.rename(bare, rng), rng)
    if suffix == 'c':
        command = ['gcc', '-std=c11', '-fsyntax-only', '-w', f'-I{ROOT}/common', '-x', 'c', '-']
        if subprocess.run(command, input=other, text=True, capture_output=True).returncode:
            return text
    return other


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode(errors='surrogateescape'))


def hand_in(folder, i, milestone, rename):
    """@return the kind and the source, or None if this submission lacks the milestone"""
    number = int(milestone[1:])
    if number > 1 and (i + number - 2) % 11 == 5:
        return None
    right, wrong = pools(milestone)
    is_right = i % 7 == 0 if number == 1 else (i + number) % 5 in (0, 2)
    path = right[i % len(right)] if is_right else wrong[i % len(wrong)]
    suffix = path.rsplit('.', 1)[1]
    to = f'{folder}/{i}/{folder_of(milestone)}/conv.{suffix}'
    if number == 1 and i % 50 == 41:
        write(to, gzip.compress(open(__file__, 'rb').read()[:3000], mtime=0))
        return 'noise', '-'
    text = inline(path)
    write(to, renamed(text, suffix, f'{milestone} {i}') if rename and '/cheats/' not in path else text)
    return 'right' if is_right else 'wrong', os.path.relpath(path, ROOT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('n', type=int)
    parser.add_argument('folder')
    parser.add_argument('milestones')
    parser.add_argument('--rename', action='store_true')
    a = parser.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    with open(f'{a.folder}/kinds.tsv', 'w') as kinds:
        for i in range(1, a.n + 1):
            for milestone in a.milestones.split(','):
                made = hand_in(a.folder, i, milestone, a.rename)
                if made:
                    print(i, milestone, *made, sep='\t', file=kinds)


if __name__ == '__main__':
    main()
