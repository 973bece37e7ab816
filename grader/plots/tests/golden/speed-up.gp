# Draws speed-up.svg, speed-up.png and speed-up.pdf from speed-up.tsv: gnuplot speed-up.gp
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
    set terminal svg noenhanced size 520,456 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1368 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,456 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,4.56in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'speed-up.'.picture
set label 1 'm5: speed-up over m2, 100 images' at screen 0.0231,screen 0.9605 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.9123 left font ',14' noenhanced textcolor rgb '#57606a'

set lmargin at screen 0.1615
set rmargin at screen 0.9692
set tmargin at screen 0.8772
set bmargin at screen 0.3070
set label 5 'Speed-up, times as fast' at screen 0.0269,screen 0.5921 rotate by 90 center noenhanced
set xtics scale 0 ('layer 1'."\n".'1x70x70, 12@5' 0, 'layer 2'."\n".'12x33x33, 24@5' 1)
unset grid
set grid ytics lt 1 lw 0.8 lc rgb '#c4cad0'
set boxwidth 0.245
set xrange [-0.6:1.60]
set yrange [0:3.83333333]
plot 'speed-up.tsv' skip 1 using ($1+(-0.267)):2 with boxes lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff' title 'm2', \
     '' skip 1 using ($1+(-0.267)):2:3 with labels offset 0,0.6 notitle, \
     'speed-up.tsv' skip 1 using ($1+(0)):4 with boxes lt 1 lw 1 fs solid 1 border rgb '#08306b' fc rgb '#08306b' title 'submission', \
     '' skip 1 using ($1+(0)):4:5 with labels offset 0,0.6 notitle, \
     'speed-up.tsv' skip 1 using ($1+(0.267)):6 with boxes lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00' title 'reference', \
     '' skip 1 using ($1+(0.267)):6:7 with labels offset 0,0.6 notitle

unset output
}
