# Draws speed-up.svg, speed-up.png and speed-up.pdf from speed-up.tsv: gnuplot speed-up.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'speed-up.tsv'
heading = 'm5: speed-up over m2 (reference), 100 images'
origin = 'modelled: virtual GPU, profile h200'
groups = 2
bars = 4
highest = 5.20842793

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
    set output 'speed-up.'.picture; \
    set label 1 heading at screen x(12),screen y(18) left font ',17' noenhanced; \
    set label 2 origin at screen x(12),screen y(40) left font ',14' noenhanced textcolor rgb '#57606a'"

# ---- speed-up: a group of bars for each layer, of code that was timed alternately --------------------
# data: group; for each of `bars` bars, how many times as fast and a label; layer, shape or model.
top = head; bottom = top + 260; left = 84; right = 504
height = bottom + 66 + key_height(bars)
y_label = 'Speed-up, times as fast'
width = 0.8 / bars
shift(i) = width * (i - (bars + 1) / 2.0)
fill_of(i) = fill(i == 1 ? 6 : i - 1)
series(i) = sprintf("data using ($1+shift(%d)):%d with boxes %s title columnheader(%d), \
    data using ($1+shift(%d)):%d:%d with labels offset 0,0.6 notitle", i, 2 * i, fill_of(i), 2 * i, i, 2 * i, 2 * i + 1)

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
