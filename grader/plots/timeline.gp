# ---- timeline: the host's requests, the copies and the kernels of a run ---------------------------------
# Copies take most of a run and kernels little, so there is an overview of the whole run and, below it, an
# enlarged view of each period (window) in which kernels ran.
# data: panel (0: the overview), lane (from below: kernels, copies, API), kind, begin, end, label. For panel p:
# span[p + 1] in unit[p + 1], and panel_title[p + 1]; for window w: its position in the overview. kinds: the
# kinds to draw; names: the kernels that have numbers.
wide = 420              # of a panel
lane = 26
between = 74            # from one panel's lanes to the next one's: its axis, and a title
marks = 18              # above the overview: the names of the windows
left = 84; right = left + wide
array kind_name[6] = ['API calls', 'copies to the GPU', 'copies from the GPU', 'copies on the GPU', 'fills', 'kernels']
array kind_fill[6] = [fill_6, fill_2, fill_3, fill_7, fill_4, fill_8]
# Copies to and from the GPU may overlap, so each direction has half a lane.
array kind_low[6] = [-0.38, 0.02, -0.38, -0.38, -0.38, -0.38]
array kind_high[6] = [0.38, 0.38, -0.02, 0.38, 0.38, 0.38]
key_rows = (words(kinds) + 1) / 2
height = head + marks + (1 + windows) * (3 * lane + between) + row * names + key_height(key_rows)
series(p, i) = sprintf("data using (column('panel')==%d&&column('kind')==%d?column('begin'):NaN):'lane':'begin':'end':(column('lane')%+g):(column('lane')%+g) with boxxyerror %s title '%s'", p, i - 1, kind_low[i], kind_high[i], kind_fill[i], p ? '' : kind_name[i])

set border 1
unset grid
set yrange [-0.5:2.5]
set ytics scale 0 ('API' 2, 'copies' 1, 'kernels' 0)

do for [picture in pictures] {
    eval start
    set key maxrows 3 maxcols 2 width -2
    set multiplot
    after = 0
    do for [w=1:windows] {
        end = window_end[w] > window_begin[w] + 0.006 * span[1] ? window_end[w] : window_begin[w] + 0.006 * span[1]
        at = (window_begin[w] + window_end[w]) / 2
        at = at > after ? at : after
        after = at + 14 * span[1] / wide
        set object w rectangle from window_begin[w],graph 0 to end,graph 1 behind fs solid border rgb '#1b1f24' fc rgb '#ffe08a'
        set label 9 + w 'ABC'[w:w] at at,graph 1 center offset 0,0.55
    }
    do for [i=1:names] {
        set label 19 + i sprintf('%d  %s', i, name[i]) at screen x(12),screen y(height - row * (names - i + 1) - key_height(key_rows) + 4) left noenhanced
    }
    top = head + 28 + marks
    do for [p=0:windows] {
        bottom = top + 3 * lane
        eval panel
        set label 3 panel_title[p + 1] at screen x(12),screen y(top - 12 - (p ? 0 : marks)) left noenhanced
        set xtics step(span[p + 1])
        set xrange [0:span[p + 1]]
        set xlabel unit[p + 1]
        command = 'plot '
        do for [i in kinds] { command = command.series(p, i + 0).', ' }
        eval command."data using (column('panel')==p?(column('begin')+column('end'))/2:NaN):'lane':6 with labels font ',14' notitle"
        unset object
        unset label
        unset key
        top = bottom + between
    }
    unset multiplot
    unset output
}
