# Joins CUDA test programs into one source, because nvcc takes most of its time for CUDA's own headers:
#
#   awk -f group.awk SOURCE.cu ... > group.cu
#
# Each program is in a namespace of its own, after all headers. The group executes the program by whose name it is called.
# common/mk/vgpu.mk chooses the programs of a group.
BEGIN {
    for (i = 1; i < ARGC; i++)
        while ((getline line < ARGV[i]) > 0)
            if (line ~ /^#include/ && !(line in included)) {
                included[line] = 1
                print line
            }
}
function leave() {
    for (macro in defined)
        print "#undef " macro
    split("", defined)
}
FNR == 1 {
    leave()
    program = FILENAME
    gsub(".*/|[.]cu$", "", program)
    print "#define main main_of_program\nnamespace in_" program " {\n#include \"" FILENAME "\"\n}\n#undef main"
    calls = calls "    if (strcmp(name, \"" program "\") == 0)\n        return in_" program "::main_of_program();\n"
}
$1 == "#define" {
    sub("[(].*", "", $2)
    defined[$2] = 1
}
END {
    leave()
    print "int main(int, char **list)\n{\n    const char *name = strrchr(list[0], '/') + 1;\n" calls "    return 2;\n}"
}
