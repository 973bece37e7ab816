#!/usr/bin/env python3
"""Prints the problems that labs/.vscode/tasks.json finds in a task's output (standard input).

    make m1 2>&1 | problems.py       run in labs/

Each problem is a line OWNER FILE:LINE SEVERITY: MESSAGE. A file that does not exist where the matcher looks for it is
an error, because an editor could not open it.
"""
import json
import os
import re
import sys

with open(".vscode/tasks.json", encoding="utf-8") as f:
    matchers = [m for task in json.load(f)["tasks"] for m in task["problemMatcher"]]
for line in sys.stdin:
    for matcher in matchers:
        pattern = matcher["pattern"]
        found = re.search(pattern["regexp"], line.rstrip("\n"))
        if not found:
            continue
        get = lambda part: found.group(pattern[part]) if part in pattern else matcher.get(part, "")
        folder = matcher["fileLocation"][1].replace("${workspaceFolder}", ".")
        if not os.path.isfile(os.path.join(folder, get("file"))):
            sys.exit(f"problems.py: {get('file')} is not in {folder}: {line}")
        code = " " + get("code") if "code" in pattern else ""
        print(f"{matcher['owner']} {get('file')}:{get('line')} {get('severity')}{code}: {get('message')}")
