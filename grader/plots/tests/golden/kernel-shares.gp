# Draws kernel-shares.svg, kernel-shares.png and kernel-shares.pdf from kernel-shares.tsv: gnuplot kernel-shares.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'kernel-shares.tsv'
heading = 'Shares of the kernels in the GPU time'
origin = 'modelled: virtual GPU, profile h200'
sizes = 3
kernels = 2
array kernel[2]
kernel[1] = 'multiply'
kernel[2] = 'unroll'

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
    set output 'kernel-shares.'.picture; \
    set label 1 heading at screen x(12),screen y(18) left font ',17' noenhanced; \
    set label 2 origin at screen x(12),screen y(40) left font ',14' noenhanced textcolor rgb '#57606a'"

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
