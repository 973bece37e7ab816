#!/usr/bin/env python3
"""Finds words and sentences that docs, messages and comments avoid.

    words.py TICS LEFT FILE...

TICS is words.tsv: a name, a pattern, the replacement, a wrong sentence that the pattern must find and a
right one that it must not. LEFT is words-left.tsv: the folders that still have some, and how many each
may have at most; the longest folder that fits counts. All other files must have none. The numbers may
only shrink.

In C, CUDA, shell, make, awk, Python and YAML, comments and strings are read; in Markdown, the text
outside code. Prints one line per violation and exits with 1 if there is any.
"""
import collections
import csv
import re
import sys

STRING = r'"(?:\\.|[^"\\\n])*"'
C_PROSE = re.compile(rf"""/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*|'(?:\\.|[^'\\\n])+'|{STRING}(?:\s*{STRING})*""", re.S)
HASH_PROSE = re.compile(rf"""(?:(?<=\s)|^)\#[^\n]*(?:\n[ \t]*\#[^\n]*)*|\"\"\".*?\"\"\"|{STRING}|'[^'\n]*'""", re.S | re.M)
MARKDOWN_PROSE = re.compile(r"(?:^(?!\s*$|```|    |\t).*\n?)+", re.M)
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
PROSE = {
    **dict.fromkeys(("c", "h", "cu", "cuh", "def", "inc"), C_PROSE),
    **dict.fromkeys(("sh", "mk", "awk", "py", "yaml", "yml", "Makefile"), HASH_PROSE),
    **dict.fromkeys(("md", "NEWS"), MARKDOWN_PROSE),
}
# Marks of comments, strings and lists; line ends written as \n; names in backquotes.
MARKS = re.compile(r'^[ \t]*(?:/\*+!?<?|\*/|\*(?!\*)|//+[!<]?|#+|[-*|] |\d+\. )|/\*+<?|\*/|\\[nt]|"|`[^`\n]*`', re.M)


def prose_of(path, text):
    """The comments and messages of a file: (offset, text whose marks are blank)."""
    kind = path.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    if kind in ("md", "NEWS"):
        text = FENCE.sub(lambda fence: re.sub(r".", " ", fence.group()), text)
    for match in PROSE[kind].finditer(text) if kind in PROSE else ():
        yield match.start(), MARKS.sub(lambda mark: " " * len(mark.group()), match.group())


def read_tics(path):
    """{name: (pattern, replacement)}, each pattern tried on its two sentences."""
    tics = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            pattern = re.compile(row["pattern"].replace(" ", r"\s+"), 0 if "What" in row["pattern"] else re.I)
            if not pattern.search(row["wrong"]) or pattern.search(row["right"]):
                sys.exit(f"{path}: {row['tic']}: the pattern must find the wrong sentence only")
            tics[row["tic"]] = pattern, row["instead"]
    return tics


def read_left(path):
    with open(path, encoding="utf-8") as file:
        return {name: int(most) for name, most in (line.split("\t") for line in file)}


def main():
    tics, left = read_tics(sys.argv[1]), read_left(sys.argv[2])
    found, failed = collections.defaultdict(list), False
    for path in sys.argv[3:]:
        folder = max((name for name in left if path == name or path.startswith(name + "/")), key=len, default=None)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for start, prose in prose_of(path, text):
            for name, (pattern, instead) in tics.items():
                for match in pattern.finditer(prose):
                    blank = len(match.group()) - len(match.group().lstrip(" \t\n.:;?!"))
                    line = text.count("\n", 0, start + match.start() + blank) + 1
                    near = " ".join(prose[max(0, match.start() - 30):match.end() + 30].split())
                    found[folder].append(f'{path}:{line}: {name}: "{near}" (hint: {instead})')
    for folder, lines in found.items():
        if len(lines) > left.get(folder, 0):
            failed = True
            print("\n".join(lines))
            if folder:
                print(f"{folder}: {len(lines)} of these, at most {left[folder]} are allowed (hint: see {sys.argv[2]})")
    for folder, most in left.items():
        if len(found[folder]) < most:
            print(f"note: {folder}: only {len(found[folder])} left of {most} (hint: lower the number in {sys.argv[2]})")
    return failed


if __name__ == "__main__":
    sys.exit(main())
