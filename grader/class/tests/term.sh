#!/bin/sh
# Replays a term of a few students: see term.py.
#
#   CONVLAB_BUILD=build term.sh
exec "$(dirname "$0")/term.py" --small
