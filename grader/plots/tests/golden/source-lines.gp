# Draws source-lines.svg, source-lines.png and source-lines.pdf from source-lines.tsv: gnuplot source-lines.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'source-lines.tsv'
heading = 'Memory accesses by source line, 100 images'
origin = 'modelled: virtual GPU, profile h200'
array depth[2]
array most[2]
depth[1] = 132; most[1] = 16
depth[2] = 174; most[2] = 4

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
    set output 'source-lines.'.picture; \
    set label 1 heading at screen x(12),screen y(18) left font ',17' noenhanced; \
    set label 2 origin at screen x(12),screen y(40) left font ',14' noenhanced textcolor rgb '#57606a'"

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
