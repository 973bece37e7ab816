#!/usr/bin/env python3
"""Finds words and sentences that docs, messages and comments must avoid.

    words.py TICS FILE...

TICS is words.tsv: a name, a pattern, the replacement, a wrong sentence that the pattern must find and a
right one that it must not.

In C, CUDA, shell, make, awk, Python and YAML, comments and strings are read; in Markdown, the text
outside code. Prints one line per violation and exits with 1 if there is any.
"""
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
    """The comments and messages of a file: (offset, text whose marks are blanked)."""
    kind = path.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    if kind in ("md", "NEWS"):
        text = FENCE.sub(lambda fence: re.sub(r".", " ", fence.group()), text)
    for match in PROSE[kind].finditer(text) if kind in PROSE else ():
        yield match.start(), MARKS.sub(lambda mark: " " * len(mark.group()), match.group())


def read_tics(path):
    """{name: (pattern, replacement)}, each pattern tested on its two sentences."""
    tics = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            pattern = re.compile(row["pattern"].replace(" ", r"\s+"), 0 if row["tic"].startswith("opening") else re.I)
            if not pattern.search(row["wrong"]) or pattern.search(row["right"]):
                sys.exit(f"{path}: {row['tic']}: the pattern must find the wrong sentence only")
            tics[row["tic"]] = pattern, row["instead"]
    return tics


def main():
    tics, failed = read_tics(sys.argv[1]), False
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for start, prose in prose_of(path, text):
            for name, (pattern, instead) in tics.items():
                for match in pattern.finditer(prose):
                    blank = len(match.group()) - len(match.group().lstrip(" \t\n.:;?!"))
                    line = text.count("\n", 0, start + match.start() + blank) + 1
                    near = " ".join(prose[max(0, match.start() - 30):match.end() + 30].split())
                    print(f'{path}:{line}: {name}: "{near}" (hint: {instead})')
                    failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
