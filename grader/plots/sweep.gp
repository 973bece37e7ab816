# ---- sweep: the time for each value, a panel for each data-set size; the layers one after another --------
# data: panel, row, value, layer (0: the label after the bar), beginning and end of its part, label. For panel
# p: panel_title[p], and most[p], the longest bar.
between = 68            # from one panel's bars to the next panel's: an axis and a title
left = 108; right = 428
height = head + key_height(1) + 26 + (between + row * values) * panels
series(p, i, key) = sprintf("data using (column('panel')==%d-1&&column('layer')==%d?column('begin_ms'):NaN):'row':'begin_ms':'end_ms':(column('row')-0.36):(column('row')+0.36) with boxxyerror %s title '%s'", p, i, fill(i + 2), key)

set border 1
unset grid
set key maxrows 1 maxcols 8
set yrange [-0.6:values - 0.4]
set ytics scale 0 ()

do for [picture in pictures] {
    eval start
    set multiplot
    top = head + 28
    do for [p=1:panels] {
        bottom = top + row * values
        eval panel
        set label 3 panel_title[p] at screen x(12),screen y(top - 12) left noenhanced
        set xtics step(most[p])
        set xrange [0:most[p] > 0 ? most[p] * 1.02 : 1]
        set xlabel (p == panels ? 'Op Time, ms' : '')
        command = 'plot '
        do for [i=1:layers] { command = command.series(p, i, p == panels ? 'layer '.i : '').', ' }
        eval command."data using (column('panel')==p-1&&column('layer')==0?column('end_ms'):NaN):'row':'label':ytic(strcol('value')) with labels left offset 0.6,0 notitle"
        unset label 1
        unset label 2
        top = bottom + between
    }
    unset multiplot
    unset output
}
