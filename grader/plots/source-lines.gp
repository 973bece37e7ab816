# ---- source-lines: how efficiently the most expensive source lines use memory ---------------------------
# data: panel (0 global memory, 1 shared memory), what (0 loads, 1 stores, 2 shared), value and its label,
# top and bottom of the bar in pixels from the panel's top, line of source. For panel p: depth[p], its height in
# pixels (0: there is no such panel), and most[p], its largest value.
between = 92            # from one panel's bars to the next panel's: an axis and a title
left = 20; right = 456
array panel_title[2] = ['Global memory', 'Shared memory']
array axis[2] = ['Sectors of 32 bytes per request (4: 32 floats in a row)', 'Passes per request (1: no bank conflict)']
array ideal[2] = [4, 1]
array fill_of[3] = [fill_1, fill_2, fill_5]
height = head + (depth[1] ? key_height(1) : 0)
do for [p=1:2] { height = height + (depth[p] ? depth[p] + between : 0) }
bars(p, what, key) = sprintf("data using (column('panel')==%d-1&&column('what')==%d?column('per_request'):NaN):'top':(0):'per_request':'top':'bottom' with boxxyerror %s title '%s'", p, what, fill_of[what + 1], key)
# The text of a line is above its first bar; a second bar begins 18 pixels further down.
last = 0
first_bar(top) = (before = last, last = top, top != before + 18)

set border 3
unset grid
unset ytics
set key maxrows 1 maxcols 8

do for [picture in pictures] {
    eval start
    set multiplot
    top = head + 30
    do for [p=1:2] {
        if (depth[p]) {
            bottom = top + depth[p]
            eval panel
            set label 3 panel_title[p] at screen x(12),screen y(top - 12) left noenhanced
            set xtics step(most[p])
            set xrange [0:most[p] * 1.05]
            set yrange [depth[p]:0]
            set xlabel axis[p]
            if (ideal[p] < most[p]) {
                set arrow 1 from ideal[p],graph 0 to ideal[p],graph 1 nohead lw 1.2 dt (4,3) lc rgb '#737373' back
            }
            eval 'plot '.(p == 1 ? bars(1, 0, 'loads').', '.bars(1, 1, 'stores') : bars(2, 2, '')).", \
                data using (column('panel')==p-1?column('per_request'):NaN):((column('top')+column('bottom'))/2):'label' with labels left offset 0.5,0 font ',14' notitle, \
                data using (column('panel')==p-1&&first_bar(column('top'))?0:NaN):(column('top')-12):'line' with labels left boxed offset 0.3,0 notitle"
            unset arrow
            unset label 1
            unset label 2
            top = bottom + between
        }
    }
    unset multiplot
    unset output
}
