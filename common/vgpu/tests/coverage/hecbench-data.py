#!/usr/bin/env python3
"""hecbench-data.py FOLDER: writes the inputs of HeCBench's programs that come from Rodinia."""
import os
import subprocess
import sys

subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "rodinia-data.py"), sys.argv[1] + "/src"], check=True)
