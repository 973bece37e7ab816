# Draws standard input as a dark terminal in SVG, with pass in green, FAIL in red and skip in yellow.

BEGIN { width = 8.0; height = 18; left = 14; top = 26 }

function text(line) {
    gsub(/&/, "\\&amp;", line)
    gsub(/</, "\\&lt;", line)
    gsub(/>/, "\\&gt;", line)
    return line
}

function color_of(line) {
    if (line ~ /^\$/) return "#ffffff"
    if (line ~ /^ +pass /) return "#7ee787"
    if (line ~ /^ +FAIL /) return "#ff7b72"
    if (line ~ /^ +skip /) return "#e3b341"
    return line ~ /^ +(hint|pattern|diagnosis):/ ? "#79c0ff" : "#c9d1d9"
}

# Appends a line of at most 112 columns; the rest continues on the next line, aligned.
function add(line, color, indent,    cut) {
    while (length(line) > 112) {
        for (cut = 112; substr(line, cut, 1) != " "; cut--)
            ;
        put(substr(line, 1, cut - 1), color)
        line = sprintf("%*s%s", indent, "", substr(line, cut + 1))
    }
    put(line, color)
}

function put(line, color) {
    lines[++n] = sprintf("<text x=\"%g\" y=\"%g\" fill=\"%s\" xml:space=\"preserve\">%s</text>", left,
                         top + n * height, color, text(line))
    if (length(line) > columns)
        columns = length(line)
}

{ add($0, color_of($0), /^ +(pass|FAIL|skip) / ? 31 : match($0, /[^ ]/) + 3) }

END {
    w = columns * width + 2 * left
    h = top + (n + 1) * height
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"DejaVu Sans Mono, " \
           "Menlo, Consolas, monospace\" font-size=\"13\">\n", w, h, w, h
    print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>"
    for (i = 0; i < 3; i++)
        printf "<circle cx=\"%d\" cy=\"16\" r=\"5\" fill=\"#484f58\"/>\n", 20 + 18 * i
    for (i = 1; i <= n; i++)
        print lines[i]
    print "</svg>"
}
