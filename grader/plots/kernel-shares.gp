# ---- kernel-shares: each kernel's share of the kernels' time, a bar for each data-set size ------------
# data: images, row, number of the kernel from 0, beginning and end of its part, label.
bar = 54
top = head; bottom = top + bar * sizes; left = 90; right = 492
height = bottom + 68 + key_height(kernels)
y_label = 'Images'
series(i) = sprintf("data using (column('number')==%d?column('begin_percent'):NaN):'row':'begin_percent':'end_percent':(column('row')-0.34):(column('row')+0.34) with boxxyerror %s", i - 1, fill(i))

set border 1
unset grid
set xrange [0:100]
set xtics 20
set xlabel 'Share of the time of all kernels, %'
set yrange [-0.6:sizes - 0.4]
set ytics scale 0 ()
do for [i=1:kernels] {
    eval sprintf("set object %d rectangle from screen x(12),screen key_y(i, kernels) - 7.0 / height \
        to screen x(56),screen key_y(i, kernels) + 7.0 / height %s", 100 + i, fill(i)[strstrt(fill(i), 'fs'):*])
    set label 100 + i kernel[i] at screen x(66),screen key_y(i, kernels) left noenhanced
}
unset key

do for [picture in pictures] {
    eval start
    eval panel
    eval y_axis
    command = 'plot '
    do for [i=1:kernels] { command = command.series(i).', ' }
    eval command."data using (strlen(strcol('label')) ? (column('begin_percent') + column('end_percent')) / 2 : NaN):'row':'label':ytic(strcol('images')) with labels boxed notitle"
    unset output
}
