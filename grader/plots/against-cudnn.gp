# ---- against-cudnn: how many times as fast as cuDNN, a bar for each data-set size ---------------------
# data: group, milestone, a column with the factor for each of `sizes` sizes.
top = head; bottom = top + 260; left = 84; right = 504
height = bottom + 48 + key_height(sizes + 1)
y_label = 'Times as fast'
width = 0.84 / sizes
shift(i) = width * (i - (sizes + 1) / 2.0)
series(i) = sprintf("data using ($1+shift(%d)):%d with boxes %s title columnheader(%d)", i, i + 2, fill(i), i + 2)

unset grid
set grid ytics @grid_lines
set boxwidth 0.94 * width
set xrange [-0.6:groups - 0.4]
set yrange [0:1.08 * highest]
set xtics scale 0 ()
if (groups > 10) set xtics font ',13'

do for [picture in pictures] {
    eval start
    eval panel
    eval y_axis
    command = 'plot '
    do for [i=1:sizes] { command = command.series(i).', ' }
    eval command."data using 1:(-1):xtic(2) notitle, 1 with lines lt 5 dt (6,4) title 'cuDNN'"
    unset output
}
