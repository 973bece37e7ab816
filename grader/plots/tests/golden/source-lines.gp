# Draws source-lines.svg, source-lines.png and source-lines.pdf from source-lines.tsv: gnuplot source-lines.gp
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
    set terminal svg noenhanced size 520,576 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1728 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,576 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,5.76in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'source-lines.'.picture
set label 1 'Memory accesses by source line, 100 images' at screen 0.0231,screen 0.9688 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.9306 left font ',14' noenhanced textcolor rgb '#57606a'

set border 3
unset grid
set key maxrows 1 maxcols 8
set multiplot
set lmargin at screen 0.0385
set rmargin at screen 0.8769
set tmargin at screen 0.8507
set bmargin at screen 0.6215
set label 3 'Global memory' at screen 0.0231,screen 0.8715 left
unset ytics
set xtics 5
set xrange [0:16.8]
set yrange [132:0]
set xlabel 'Sectors of 32 bytes per request (4: 32 floats in a row)'
set label 10 '168: inside ? *(const float4.._float4(0, 0, 0, 0);' at graph 0,first 14 left offset 0.3,0 front
set label 11 '154: s->k[l][m] = inside ? k..th + l0 + l] : 0.0f;' at graph 0,first 56 left offset 0.3,0 front
set label 12 '225: y[(b * M + m0 + row + i.. pixel] = sum[i][j];' at graph 0,first 98 left offset 0.3,0 front
set arrow 1 from first 4,graph 0 to first 4,graph 1 nohead lw 1.2 dt (4,3) lc rgb '#737373' back
plot 'source-lines.tsv' skip 1 using ($1==0&&$2==0?$3:NaN):5:(0):3:5:6 with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#08306b' fc rgb '#08306b' title 'loads', \
     '' skip 1 using ($1==0&&$2==0?$3:NaN):(($5+$6)/2):4 with labels left offset 0.5,0 font ',14' notitle, \
     'source-lines.tsv' skip 1 using ($1==0&&$2==1?$3:NaN):5:(0):3:5:6 with boxxyerror lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00' title 'stores', \
     '' skip 1 using ($1==0&&$2==1?$3:NaN):(($5+$6)/2):4 with labels left offset 0.5,0 font ',14' notitle
unset label 10
unset label 11
unset label 12
unset arrow
unset label 1
unset label 2
set lmargin at screen 0.0385
set rmargin at screen 0.8769
set tmargin at screen 0.4618
set bmargin at screen 0.1597
set label 3 'Shared memory' at screen 0.0231,screen 0.4826 left
unset ytics
set xtics 1
set xrange [0:4.2]
set yrange [174:0]
set xlabel 'Passes per request (1: no bank conflict)'
set label 10 '185: r_u[j] = s->u[l][column + j * THREADS_N];' at graph 0,first 14 left offset 0.3,0 front
set label 11 '182: r_k[i] = s->k[l][row + i];' at graph 0,first 56 left offset 0.3,0 front
set label 12 '167: *(float4 *)&s->u[l][n] =' at graph 0,first 98 left offset 0.3,0 front
set label 13 '154: s->k[l][m] = inside ? k..th + l0 + l] : 0.0f;' at graph 0,first 140 left offset 0.3,0 front
set arrow 1 from first 1,graph 0 to first 1,graph 1 nohead lw 1.2 dt (4,3) lc rgb '#737373' back
plot 'source-lines.tsv' skip 1 using ($1==1&&$2==2?$3:NaN):5:(0):3:5:6 with boxxyerror lt 1 lw 1 fs pattern 5 border rgb '#7a0177' fc rgb '#ae017e' title '', \
     '' skip 1 using ($1==1&&$2==2?$3:NaN):(($5+$6)/2):4 with labels left offset 0.5,0 font ',14' notitle
unset label 10
unset label 11
unset label 12
unset label 13
unset arrow
unset label 1
unset label 2
unset multiplot

unset output
}
