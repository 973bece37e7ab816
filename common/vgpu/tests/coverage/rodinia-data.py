#!/usr/bin/env python3
"""rodinia-data.py FOLDER: writes small inputs for Rodinia's programs into FOLDER/data, in the formats of its own data, which
is not in the repository of the programs. Each run writes the same inputs, and keeps files that exist. (cfd also needs
the folder Common of cuda-samples in FOLDER.)"""
import os
import random
import struct
import sys

random.seed(17)
folder = sys.argv[1] + "/data"


def write(name, content):
    path = f"{folder}/{name}"
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else "".join(content).encode())


def lines(n, low, high):
    return (f"{random.uniform(low, high):.6f}\n" for _ in range(n))


def graph(nodes, degree):
    """Breadth-first search: nodes (first edge, edges), the source, edges (node, cost). Edge 0 leads to the next node."""
    yield f"{nodes}\n"
    for i in range(nodes):
        yield f"{degree * i} {degree}\n"
    yield f"\n0\n\n{nodes * degree}\n"
    for i in range(nodes):
        for k in range(degree):
            yield f"{random.randrange(nodes) if k else (i + 1) % nodes} {random.randint(1, 9)}\n"


def mesh(side):
    """A closed box of tetrahedra-like cells: area, then four neighbours (-1: wall, -2: far field) with their normals."""
    n = side * side
    yield f"{n}\n"
    for i in range(n):
        x, y = i % side, i // side
        yield f"{random.uniform(0.5, 1.5):.6f}\n"
        neighbours = [i - 1 if x else -2, i + 1 if x < side - 1 else -2, i - side if y else -1, i + side if y < side - 1 else -2]
        for to, normal in zip(neighbours, ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0))):
            yield f"{to} {normal[0]:.6f} {normal[1]:.6f} {normal[2]:.6f}\n"


def film(width, height, frames):
    """An AVI file of uncompressed 8-bit frames."""

    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    def group(kind, data):
        return chunk(b"LIST", kind + data)

    size = width * height
    head = struct.pack("<14I", 40000, size * 25, 0, 16, frames, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<10I4h", 0, 0, 0, 1, 25, 0, frames, size, 0, size, 0, 0, width, height)
    form = struct.pack("<IIIHHIIIIII", 40, width, height, 1, 8, 0, size, 0, 0, 0, 0)
    base = random.randbytes(size)
    shots = [chunk(b"00db", base[k * width :] + base[: k * width]) for k in range(frames)]
    index = b"".join(b"00db" + struct.pack("<3I", 16, 4 + k * len(shots[0]), size) for k in range(frames))
    body = group(b"hdrl", chunk(b"avih", head) + group(b"strl", chunk(b"strh", stream) + chunk(b"strf", form)))
    body += group(b"movi", b"".join(shots)) + chunk(b"idx1", index)
    return chunk(b"RIFF", b"AVI " + body)


def hurricanes(n):
    for _ in range(n):
        yield "%4d %2d %2d %2d %2d %-9s %5.1f %5.1f %4d %4d\n" % (
            random.randint(1950, 2004), random.randint(1, 12), random.randint(1, 28), 6 * random.randrange(4),
            random.randint(1, 28), random.choice(("ALBERTO", "BERYL", "CHRIS")), random.uniform(7, 70),
            random.uniform(0, 358), random.randint(10, 160), random.randint(1, 1000))


keys = random.sample(range(100000), 4000)
write("b+tree/mil.txt", [f"{len(keys)}\n"] + [f"{k}\n" for k in keys])
write("b+tree/command.txt", "k 500\nj 300 200\n")
write("bfs/graph.txt", graph(4096, 6))
write("cfd/domain", mesh(24))
write("dwt2d/image", random.randbytes(3 * 192 * 192))
write("heartwall/test.avi", film(744, 656, 3))
for name, low, high in (("temp", 320, 340), ("power", 0, 0.01)):
    write(f"hotspot/{name}", lines(64 * 64, low, high))
    write(f"hotspot3D/{name}", lines(64 * 64 * 8, low, high))
write("huffman/text", bytes(random.choices(range(64, 96), weights=range(1, 33), k=1 << 16)))
write("myocyte/y.txt", lines(91, 0.1, 1))
write("myocyte/params.txt", lines(18, 0.5, 1))
write("nn/hurricanes.db", hurricanes(3000))
write("nn/files", "../../data/nn/hurricanes.db\n")
write("srad/image.pgm", ["P2\n458 502\n255\n"] + [f"{random.randint(1, 255)}\n" for _ in range(458 * 502)])
