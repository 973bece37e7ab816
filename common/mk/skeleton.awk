# Makes a student's skeleton from a reference solution.
#
#     /* BEGIN SOLUTION */        everything from here ...
#     //~ a line                  except these lines, which are kept without the mark,
#     /* END SOLUTION */          ... to here is removed
/BEGIN SOLUTION/ { inside = 1; next }
/END SOLUTION/   { inside = 0; next }
!inside          { print; next }
match($0, /\/\/~ ?/) {
    line = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
    sub(/[ \t]+$/, "", line)
    print line
}
