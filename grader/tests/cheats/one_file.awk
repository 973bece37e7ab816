# Makes one C file: replaces every #include "NAME" by that file, except conv.h, which the harness has. FOLDERS: where to
# look, separated by spaces.
function put(file,    line, name, found, n, i, folder) {
    while ((getline line <file) > 0) {
        if (match(line, /^#include "[^"]*"/)) {
            name = substr(line, 11)
            sub(/".*/, "", name)
            n = split(FOLDERS, folder, " ")
            found = ""
            for (i = 1; i <= n && !found && name != "conv.h"; i++)
                if ((getline found <(folder[i] "/" name)) > 0) {
                    close(folder[i] "/" name)
                    found = folder[i] "/" name
                } else
                    found = ""
            if (found) {
                if (!(found in done) || name ~ /plain/) {
                    done[found] = 1
                    put(found)
                }
                continue
            }
        }
        print line
    }
    close(file)
}
BEGIN { put(ARGV[1]) }
