#!/usr/bin/env python3
"""Turns a Markdown page of this project into Doxygen's Markdown (FILTER_PATTERNS of docs/Doxyfile):

    page.py FILE.md

Every page and heading gets an id, links between pages become references to these ids, pictures are found by name, and
`<!-- pages GLOB ... -->` becomes the list of those pages, each a subpage. Code is unchanged, except for single quotes,
which Doxygen takes for the end of a code span."""
import glob
import os
import re
import sys

TOP = os.path.relpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
HOME = "README.md"
CODE = re.compile(r"(`+)(.+?)\1(?!`)")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
# A link whose text continues on the next line; not all versions of Doxygen allow this.
BROKEN_LINK = re.compile(r"\[([^\[\]\n]+)\n *([^\[\]\n]+)\]\(")
# GitHub's id of a heading: lower case, no punctuation, a hyphen for each blank.
PUNCTUATION = re.compile(r"[^\w\- ]")


def page_id(path):
    return "index" if path == HOME else "page_" + re.sub(r"\W", "_", os.path.normpath(path))


def heading_id(path, slug):
    return page_id(path) + "_" + re.sub(r"\W", "_", slug)


def title_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return next(line[2:].strip() for line in file if line.startswith("# "))


def by_number(path):
    """The sort key of milestones: m2 before m10, the convolution before SGEMM."""
    name = re.search(r"/([a-z])(\d+)-", path)
    return (name.group(1) != "m", int(name.group(2))) if name else (False, 0), path


def subpages(globs):
    paths = [os.path.relpath(p, TOP) for g in globs.split() for p in glob.glob(os.path.join(TOP, g))]
    return "".join(f"- @subpage {page_id(p)}\n" for p in sorted(set(paths), key=by_number))


def link(path, match):
    picture, text, target = match.groups()
    if picture:
        return f"![{text}]({os.path.basename(target)})"
    if re.match(r"[a-z]+:", target):
        return match.group(0)
    file, _, slug = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    if not file.endswith(".md") or "/tests/" in file or not os.path.exists(os.path.join(TOP, file)):
        return text  # a path in the source tree, which is not on the site
    return f"[{text}](@ref {heading_id(file, slug) if slug else page_id(file)})"


def words(path, text):
    """A line without its code spans (to find links), and the code spans."""
    kept = []

    def keep_part(ticks, code):
        kept.append(f"``{code}``" if "'" in code and ticks == "`" else f"{ticks}{code}{ticks}")
        return f"\x00{len(kept) - 1}\x00"

    def keep(match):
        ticks, code = match.groups()
        if r"\|" not in code:
            return keep_part(ticks, code)
        # In a table, Doxygen would show the backslash inside code.
        return r" \| ".join(keep_part(ticks, part.strip()) for part in code.split(r"\|"))

    text = LINK.sub(lambda m: link(path, m), CODE.sub(keep, text))
    return re.sub("\x00(\\d+)\x00", lambda m: kept[int(m.group(1))], text)


def headings(line):
    """The level and text of a heading, or None."""
    match = re.match(r"(#{1,6}) +(.*?)\s*$", line)
    return (len(match.group(1)), match.group(2)) if match else (0, "")


def slug_of(text):
    return PUNCTUATION.sub("", re.sub(r"[`*]", "", text).lower()).strip().replace(" ", "-")


def convert(path, lines):
    seen, fenced = set(), False
    for line in lines:
        fenced ^= line.startswith("```")
        level, text = headings(line)
        if fenced or line.startswith(("```", "    ")):
            yield line
        elif line.startswith("<!-- pages "):
            yield subpages(line[len("<!-- pages "):line.index("-->")])
        elif level:
            slug, n = slug_of(text), 1
            while slug in seen:
                slug, n = f"{slug_of(text)}-{n}", n + 1
            is_title = not seen
            seen.add(slug)
            name = page_id(path) if is_title else heading_id(path, slug)
            text = text.replace("`", "")  # Doxygen shows the tags of code spans in headings
            depth = level - (path == HOME)  # Doxygen's main page gets its title from a separate command
            yield f"{'#' * depth} {words(path, text)} {{#{name}}}\n" if depth else f"@mainpage {text}\n"
        else:
            yield words(path, line)
    if path == HOME:
        yield "\n# Pages of this site\n\n" + "".join(
            f"- @ref {page_id(p)}\n" for p in sorted(glob.glob("common/mk/site/[0-9]*.md")))


def main():
    path = os.path.relpath(sys.argv[1], TOP)
    with open(sys.argv[1], encoding="utf-8") as file:
        text = BROKEN_LINK.sub(r"[\1 \2](", file.read())
    sys.stdout.write("".join(convert(path, text.splitlines(keepends=True))))


if __name__ == "__main__":
    main()
