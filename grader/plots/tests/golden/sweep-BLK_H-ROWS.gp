# Draws sweep-BLK_H-ROWS.svg, sweep-BLK_H-ROWS.png and sweep-BLK_H-ROWS.pdf from sweep-BLK_H-ROWS.tsv: gnuplot sweep-BLK_H-ROWS.gp
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
    set terminal svg noenhanced size 520,644 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1932 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,644 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,6.44in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'sweep-BLK_H-ROWS.'.picture
set label 1 'm5: Op Time by BLK_H, ROWS' at screen 0.0231,screen 0.9720 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.9379 left font ',14' noenhanced textcolor rgb '#57606a'

set border 1
unset grid
set key maxrows 1 maxcols 8
set multiplot
set lmargin at screen 0.2077
set rmargin at screen 0.8231
set tmargin at screen 0.8696
set bmargin at screen 0.5621
set label 3 '10 images' at screen 0.0231,screen 0.8882 left
set ytics scale 0 ('4, 1' 8, '4, 2' 7, '4, 4' 6, '64, 1' 5, '64, 2' 4, '64, 4' 3, '8, 1' 2, '8, 2' 1, '8, 4' 0)
set xtics 0.02
set xrange [0:0.096237]
set yrange [-0.6:8.6]
set xlabel ''
plot 'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==0&&$3==1?$4:NaN):2:4:5:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' title '', \
     'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==0&&$3==2?$4:NaN):2:4:5:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs pattern 1 border rgb '#252525' fc rgb '#444444' title '', \
     'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==0&&$3==0?$5:NaN):2:6 with labels left offset 0.6,0 notitle
unset label 1
unset label 2
set lmargin at screen 0.2077
set rmargin at screen 0.8231
set tmargin at screen 0.4565
set bmargin at screen 0.1491
set label 3 '20 images' at screen 0.0231,screen 0.4752 left
set ytics scale 0 ('4, 1' 8, '4, 2' 7, '4, 4' 6, '64, 1' 5, '64, 2' 4, '64, 4' 3, '8, 1' 2, '8, 2' 1, '8, 4' 0)
set xtics 0.02
set xrange [0:0.09732126]
set yrange [-0.6:8.6]
set xlabel 'Op Time, ms'
plot 'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==1&&$3==1?$4:NaN):2:4:5:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' title 'layer 1', \
     'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==1&&$3==2?$4:NaN):2:4:5:($2-0.36):($2+0.36) with boxxyerror lt 1 lw 1 fs pattern 1 border rgb '#252525' fc rgb '#444444' title 'layer 2', \
     'sweep-BLK_H-ROWS.tsv' skip 1 using ($1==1&&$3==0?$5:NaN):2:6 with labels left offset 0.6,0 notitle
unset label 1
unset label 2
unset multiplot

unset output
}
