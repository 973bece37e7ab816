# ---- ladder: Op Times of all milestones on one device, a panel for each layer ------------------------
# data: rows of milestones; panel p has `bars[p]` rows, from row first[p] on; each row also has cuDNN's time
# and the floor. least, most: the shortest and the longest time.
left = 138; right = 500
between = 64            # from one panel's bars to the next panel's: an axis and a title
height = head + key_height(2) + 24
do for [p=1:panels] { height = height + row * bars[p] + between }
low = least / 2
high = most * (most / least) ** 0.2

set logscale x
eval decades('x')
set format x '%g'
set border 1
unset grid
set grid xtics ytics lt 1 lw 0.8 lc rgb '#c4cad0'   # points, not bars: a logarithmic axis has no zero from which a bar could start
set xrange [low:high]
set ytics scale 0 ()

do for [picture in pictures] {
    eval start
    set multiplot
    top = head + 28
    do for [p=1:panels] {
        bottom = top + row * bars[p]
        eval panel
        set label 3 panel_title[p] at screen x(12),screen y(top - 12) left noenhanced
        set yrange [-0.6:bars[p] - 0.4]
        set xlabel (p == panels ? 'Op Time, ms' : '')
        key(text) = p == panels ? text : ''
        plot data every ::first[p]::first[p]+bars[p]-1 using 'ms':'row':(strstrt(strcol('milestone'), 'reference') ? 6 : 7):ytic(strcol('milestone')) with points lt 1 pt variable ps 1.4 notitle, \
             for [i=1:with_cudnn] data every ::first[p]::first[p] using 'cudnn_ms':(-0.6):(0):(bars[p]+1) with vectors nohead lt 2 title key('cuDNN'), \
             for [i=1:with_floor] data every ::first[p]::first[p] using 'floor_ms':(-0.6):(0):(bars[p]+1) with vectors nohead lt 5 title key('floor of the direct algorithm'), \
             data every ::first[p]::first[p]+bars[p]-1 using 'ms':'row':'label' with labels left boxed offset 1.4,0 notitle
        unset label 1
        unset label 2
        top = bottom + between
    }
    unset multiplot
    unset output
}
