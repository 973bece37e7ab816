#!/bin/sh
# A term of a few students, replayed: see term.py.
#
#   CONVLAB_BUILD=build term.sh
exec "$(dirname "$0")/term.py" --small
