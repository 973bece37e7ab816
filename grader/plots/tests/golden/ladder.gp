# Draws ladder.svg, ladder.png and ladder.pdf from ladder.tsv: gnuplot ladder.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session
set encoding utf8
set datafile separator "\t"
set linetype 1 lc rgb '#08306b' lw 2.2 pt 7 ps 0.9 dt 1
set linetype 2 lc rgb '#d55e00' lw 2.2 pt 5 ps 0.9 dt (12,5)
set linetype 3 lc rgb '#238b45' lw 2.2 pt 9 ps 1.1 dt (3,4)
set linetype 4 lc rgb '#7a0177' lw 2.2 pt 11 ps 1.1 dt (12,4,3,4)
set linetype 5 lc rgb '#252525' lw 2.2 pt 6 ps 0.9 dt 1
set linetype 6 lc rgb '#737373' lw 2.2 pt 4 ps 0.9 dt (12,5)
set linetype 7 lc rgb '#2b8cbe' lw 2.2 pt 8 ps 1.1 dt (3,4)
set linetype 8 lc rgb '#a6611a' lw 2.2 pt 10 ps 1.1 dt (12,4,3,4)
set border 3 lw 1.2 lc rgb '#1b1f24'
set tics nomirror out scale 0.8,0.4 textcolor rgb '#1b1f24'
set xtics offset 0,0.35
set xlabel offset 0,0.7
set grid lt 1 lw 0.8 lc rgb '#c4cad0' dt 1
set style textbox opaque noborder fillcolor rgb 'white' margins 0.5,0.3
set key at screen 0.02,screen 0.01 bottom left vertical maxrows 16 maxcols 1 noenhanced reverse Left samplen 3 spacing 1.15 width 1

do for [picture in 'svg png pdf'] {
if (picture eq 'svg') {
    set terminal svg noenhanced size 520,348 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1044 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,348 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,3.48in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'ladder.'.picture
set label 1 'Op Time of each milestone, 100 images' at screen 0.0231,screen 0.9483 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.8851 left font ',14' noenhanced textcolor rgb '#57606a'

set logscale x
set format x '%g'
set border 1
set multiplot
unset grid
set grid xtics lt 1 lw 0.8 lc rgb '#c4cad0'
set lmargin at screen 0.1192
set rmargin at screen 0.9615
set tmargin at screen 0.7586
set bmargin at screen 0.6322
set label 3 'two-layer, layer 1 (1x70x70, 12@5)' at screen 0.0231,screen 0.7931 left noenhanced
set ytics scale 0 ('m3' 1, 'm5' 0)
set xrange [0.001953125:0.279820293]
set yrange [-0.6:1.6]
set xlabel ''
plot 'ladder.tsv' skip 1 using ($1==0?$4:NaN):2:(0.001953125):4:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' notitle, \
     '' skip 1 using ($1==0?$7:NaN):(-0.6):(0):(3) with vectors nohead lt 5 title '', \
     '' skip 1 using ($1==0?$4:NaN):2:5 with labels left boxed offset 1,0 notitle
unset label 1
unset label 2
set lmargin at screen 0.1192
set rmargin at screen 0.9615
set tmargin at screen 0.4483
set bmargin at screen 0.3218
set label 3 'two-layer, layer 2 (12x33x33, 24@5)' at screen 0.0231,screen 0.4828 left noenhanced
set ytics scale 0 ('m3' 1, 'm5' 0)
set xrange [0.001953125:0.279820293]
set yrange [-0.6:1.6]
set xlabel 'Op Time, ms'
plot 'ladder.tsv' skip 1 using ($1==1?$4:NaN):2:(0.001953125):4:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' notitle, \
     '' skip 1 using ($1==1?$7:NaN):(-0.6):(0):(3) with vectors nohead lt 5 title 'floor: no kernel can be faster', \
     '' skip 1 using ($1==1?$4:NaN):2:5 with labels left boxed offset 1,0 notitle
unset label 1
unset label 2
unset multiplot

unset output
}
