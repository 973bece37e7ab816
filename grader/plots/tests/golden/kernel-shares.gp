# Draws kernel-shares.svg, kernel-shares.png and kernel-shares.pdf from kernel-shares.tsv: gnuplot kernel-shares.gp
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
    set terminal svg noenhanced size 520,338 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1014 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,338 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,3.38in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'kernel-shares.'.picture
set label 1 'Shares of the kernels in the GPU time' at screen 0.0231,screen 0.9467 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.8817 left font ',14' noenhanced textcolor rgb '#57606a'

set lmargin at screen 0.1731
set rmargin at screen 0.9462
set tmargin at screen 0.8343
set bmargin at screen 0.3550
set label 5 'Images' at screen 0.0269,screen 0.5947 rotate by 90 center noenhanced
set border 1
set xlabel 'Share of the time of all kernels, %'
unset grid
set xrange [0:100]
set xtics 20
set ytics scale 0 ('2' 2, '20' 1, '100' 0)
set yrange [-0.6:2.6]
set object 100 rectangle from screen 0.0231,screen 0.1006 to screen 0.1077,screen 0.1420 fs solid 1 border rgb '#08306b' fc rgb '#08306b'
set label 100 'multiply' at screen 0.1269,screen 0.1213 left noenhanced
set object 101 rectangle from screen 0.0231,screen 0.0355 to screen 0.1077,screen 0.0769 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00'
set label 101 'unroll' at screen 0.1269,screen 0.0562 left noenhanced
unset key
plot 'kernel-shares.tsv' skip 1 using ($3==0?$5:NaN):2:5:6:($2-0.34):($2+0.34) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#08306b' fc rgb '#08306b', \
     'kernel-shares.tsv' skip 1 using ($3==1?$5:NaN):2:5:6:($2-0.34):($2+0.34) with boxxyerror lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00', \
     'kernel-shares.tsv' skip 1 using (strlen(strcol(8))?($5+$6)/2:NaN):2:8 with labels boxed notitle

unset output
}
