# Updates an assignment page with the points of its rubric: the line **Points.** and the table of checks.
#
#   awk -f lab-points.awk labs/mN-NAME/rubric.yaml labs/mN-NAME/README.md
#
# A row of the table keeps its words; the row of a new item gets the rubric's. The row of "speed" gets new words if its
# points are on a linear scale, or if its words describe such a scale and the rubric no longer has one.
function add(id, points, kind, text) {
    n[kind]++; item[kind, n[kind]] = id; worth[kind, n[kind]] = points; words[kind, n[kind]] = text; sum[kind] += points
}
function end_item() {
    if (id != "") add(id, points, kind, text)
    id = text = ""
}
function put_rows(kind, quote, i, name, key) {
    for (i = 1; i <= n[kind]; i++) {
        name = quote item[kind, i] quote
        key = tolower(name)
        if (key == "`speed`" && (full != "" || row[key] ~ on_a_scale)) row[key] = " " (full != "" ? scale() : words[kind, i]) " |"
        printf "| %s | %s |%s\n", worth[kind, i], key in row ? shown[key] : name, key in row ? row[key] : " " words[kind, i] " |"
    }
    name = kind == "automatic" ? "**automatic**" : "**explanation**"
    printf "| **%s** | %s |%s\n", sum[kind], name, row[name]
}
# Describes a linear scale: full and none are its ends; timed["gpu"] and so on are set if it is in milliseconds.
function scale(unit) {
    unit = timed["gpu"] == "" ? " times the Op Time of the reference that `speed` compares with" : " ms"
    return "all layers together" (timed["gpu"] == "" ? "" : ", " timed["images"] " images of `" \
        (timed["model"] == "" ? "two-layer" : timed["model"]) "` on `" timed["gpu"] "`") ": all points up to " full unit \
        ", none at " none (timed["gpu"] == "" ? " times" : " ms") " or more, " on_a_scale
}
BEGIN { on_a_scale = "in proportion between them" }
FNR == NR { # the rubric
    if ($1 == "-" && $2 == "id:") { end_item(); id = $3 }
    else if ($1 == "kind:") { kind = $2; if (kind == "manual") { sub(/^(explanation|report)_/, "", id); gsub(/_/, " ", id) } }
    else if ($1 == "points:") points = $2
    else if ($1 == "linear:") { split($0, end, /[][, ]+/); full = end[3]; none = end[4] }
    else if (id == "speed" && ($0 ~ /^ *timed: *\{/ || $1 ~ /^(images|model|gpu):$/)) {
        sub(/^ *timed: */, ""); gsub(/[{}]/, "")
        fields = split($0, field, /, */)
        for (f = 1; f <= fields; f++) { split(field[f], pair, /: +/); gsub(/ /, "", pair[1]); gsub(/["\047]| *$/, "", pair[2]); timed[pair[1]] = pair[2] }
    }
    else if ($1 == "text:") { words_follow = 1; text = $0; sub(/^ *text: *(>-)?/, "", text) }
    else if ($0 !~ /^      /) words_follow = 0
    else if (words_follow) { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0 }
    next
}
FNR == 1 { end_item() }
/^\*\*Points\.\*\* / {
    given = report = ""
    for (i = 1; i <= n["automatic"]; i++) given = given ", `" item["automatic", i] "` " worth["automatic", i]
    for (i = 1; i <= n["manual"]; i++) report = report ", " item["manual", i] " " worth["manual", i]
    sub(/^.* \[How it is graded\]/, "[How it is graded]")
    print "**Points.** The grader gives " sum["automatic"] ": " substr(given, 3) ". The instructor gives " sum["manual"] \
        " for the report: " substr(report, 3) ". " $0
    next
}
/^\| points \| / { table = 1; print; getline; print; next }
table && /^\|/ { # | 25 | `unit_shapes` | every output is right ... |
    split($0, cell, "|"); name = cell[3]; gsub(/^ *| *$/, "", name)
    shown[tolower(name)] = name
    row[tolower(name)] = substr($0, length(cell[2] cell[3]) + 4)
    next
}
table { put_rows("automatic", "`"); put_rows("manual", ""); table = 0 }
{ print }
