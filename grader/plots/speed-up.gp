# ---- speed-up: a group of bars for each layer, of code that was timed alternately --------------------
# data: group; for each of `bars` bars, how many times as fast and a label; layer, shape or model.
top = head; bottom = top + 260; left = 84; right = 504
height = bottom + 66 + key_height(bars)
y_label = 'Speed-up, times as fast'
width = 0.8 / bars
label_font = bars > 3 ? ',13' : ',16' # a label may be wider than its bar
shift(i) = width * (i - (bars + 1) / 2.0)
fill_of(i) = fill(i == 1 ? 6 : i - 1)
series(i) = sprintf("data using ($1+shift(%d)):%d with boxes %s title columnheader(%d), \
    data using ($1+shift(%d)):%d:%d with labels font '%s' offset 0,0.6 notitle", i, 2 * i, fill_of(i), 2 * i, i, 2 * i, 2 * i + 1, label_font)

unset grid
set grid ytics @grid_lines
set boxwidth 0.92 * width
set xrange [-0.6:groups - 0.4]
set yrange [0:1.15 * highest]
set xtics scale 0 ()

do for [picture in pictures] {
    eval start
    eval panel
    eval y_axis
    command = 'plot '
    do for [i=1:bars] { command = command.series(i).', ' }
    eval command.'data using 1:(-1):xtic(strcol("layer")."\n".strcol("of")) notitle'
    unset output
}
