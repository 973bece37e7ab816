# Draws timeline.svg, timeline.png and timeline.pdf from timeline.tsv: gnuplot timeline.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'timeline.tsv'
heading = 'Timeline, 100 images'
origin = 'modelled: virtual GPU, profile h200'
array span[3]
array unit[3]
array panel_title[3]
array window_begin[3]
array window_end[3]
windows = 2
span[1] = 8.749728; unit[1] = 'ms'
panel_title[1] = 'The whole run'
span[2] = 70.91; unit[2] = 'µs'
panel_title[2] = 'A, from 2.692 ms on'; window_begin[1] = 2.692302; window_end[1] = 2.763212
span[3] = 175.4284; unit[3] = 'µs'
panel_title[3] = 'B, from 7.013 ms on'; window_begin[2] = 7.0134068; window_end[2] = 7.1888352
kinds = '1 2 3 6'
names = 2
array name[2]
name[1] = 'unroll'
name[2] = 'multiply'

# ---- the style of all plots -----------------------------------------------------------------------
# Series differ in dash, point or hatching as well as in colour, and colours differ in lightness, so that
# series are distinguishable in a grey print and by colour-blind readers.
set encoding utf8
set datafile separator "\t"
set datafile columnheaders
set linetype 1 lc rgb '#08306b' lw 2.2 pt 7 ps 0.9 dt 1
set linetype 2 lc rgb '#d55e00' lw 2.2 pt 5 ps 0.9 dt (12,5)
set linetype 3 lc rgb '#238b45' lw 2.2 pt 9 ps 1.1 dt (3,4)
set linetype 4 lc rgb '#7a0177' lw 2.2 pt 11 ps 1.1 dt (12,4,3,4)
set linetype 5 lc rgb '#252525' lw 2.2 pt 6 ps 0.9 dt 1
set linetype 6 lc rgb '#737373' lw 2.2 pt 4 ps 0.9 dt (12,5)
set linetype 7 lc rgb '#2b8cbe' lw 2.2 pt 8 ps 1.1 dt (3,4)
set linetype 8 lc rgb '#a6611a' lw 2.2 pt 10 ps 1.1 dt (12,4,3,4)
fill_1 = "lt 1 lw 1 fs solid 1 border rgb '#08306b' fc rgb '#08306b'"
fill_2 = "lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00'"
fill_3 = "lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea'"
fill_4 = "lt 1 lw 1 fs pattern 1 border rgb '#252525' fc rgb '#444444'"
fill_5 = "lt 1 lw 1 fs pattern 5 border rgb '#7a0177' fc rgb '#ae017e'"
fill_6 = "lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff'"
fill_7 = "lt 1 lw 1 fs pattern 2 border rgb '#00684c' fc rgb '#009e73'"
fill_8 = "lt 1 lw 1 fs solid 1 border rgb '#525252' fc rgb '#969696'"
fill(i) = value(sprintf("fill_%d", 1 + (i - 1) % 8))
set border 3 lw 1.2 lc rgb '#1b1f24'
set tics nomirror out scale 0.8,0.4 textcolor rgb '#1b1f24'
set xtics offset 0,0.35
set xlabel offset 0,0.7
grid_lines = "lt 1 lw 0.8 lc rgb '#c4cad0' dt 1"
set grid @grid_lines
set style textbox opaque noborder fillcolor rgb 'white' margins 0.5,0.3
set key at screen 0.02,screen 0.01 bottom left vertical maxrows 16 maxcols 1 noenhanced \
    reverse Left samplen 3 spacing 1.15 width 1

# Layout in pixels, from the left and from the top of a picture that is 520 wide and `height` high. A font of
# 16 pixels appears with 10 pixels on a phone that is 360 pixels wide.
head = 56               # the title and the line below it, which states where the numbers come from
row = 22                # a bar, or a line of the key
x(pixels) = pixels / 520.0
y(pixels) = 1 - pixels / (1.0 * height)
panel = "set lmargin at screen x(left); set rmargin at screen x(right); \
         set tmargin at screen y(top); set bmargin at screen y(bottom)"
y_axis = "set label 5 y_label at screen x(14),screen y((top + bottom) / 2.0) rotate by 90 center noenhanced"

# A key below the plot. gnuplot limits the rows of its own key to the height of the plot, so longer keys are
# drawn by hand, at key_y().
key_height(rows) = 8 + row * rows
key_y(i, rows) = (8 + row * (rows - i + 0.5)) / height

# The tics of a logarithmic axis, with numbers at powers of ten. By default, gnuplot 6 prints overlapping 20, 30, ...
decades(axis) = sprintf("set %stics (); do for [p=-9:9] { set %stics add (sprintf('%%g', 10.0**p) 10.0**p); \
    do for [d=2:9] { set %stics add ('' d * 10.0**p 1) } }", axis, axis, axis)
# The distance of tics for an axis from 0 to `most`: at most 6 of them.
step(most) = most > 0 ? tic(most, 10 ** (floor(log10(most)) - 1)) : 1
tic(most, s) = most <= 6 * s ? s : most <= 12 * s ? 2 * s : most <= 30 * s ? 5 * s : \
               most <= 60 * s ? 10 * s : most <= 120 * s ? 20 * s : 50 * s

# The formats have the same proportions: SVG in pixels, PNG with three times as many, PDF at 100 pixels per inch.
pictures = strstrt(GPVAL_TERMINALS, 'pdfcairo') ? 'svg png pdf' : 'svg png'
svg(h) = sprintf("svg noenhanced size 520,%d font 'sans-serif,16' background rgb 'white'", h)
png(h) = strstrt(GPVAL_TERMINALS, 'pngcairo') ? \
    sprintf("pngcairo noenhanced size 1560,%d font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4", 3 * h) : \
    sprintf("png noenhanced size 520,%d medium", h)
pdf(h) = sprintf("pdfcairo noenhanced size 5.20in,%.2fin font 'Sans,16' fontscale 0.53 \
    linewidth 1 pointscale 1 background rgb 'white'", h / 100.0)
start = "eval 'set terminal '.(picture eq 'svg' ? svg(height) : picture eq 'png' ? png(height) : pdf(height)); \
    set output 'timeline.'.picture; \
    set label 1 heading at screen x(12),screen y(18) left font ',17' noenhanced; \
    set label 2 origin at screen x(12),screen y(40) left font ',14' noenhanced textcolor rgb '#57606a'"

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
