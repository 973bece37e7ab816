# Draws roofline.svg, roofline.png and roofline.pdf from roofline.tsv: gnuplot roofline.gp
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
    set terminal svg noenhanced size 520,452 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1356 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,452 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,4.52in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'roofline.'.picture
set label 1 'Roofline of the kernels, 100 images' at screen 0.0231,screen 0.9602 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.9115 left font ',14' noenhanced textcolor rgb '#57606a'

set lmargin at screen 0.1615
set rmargin at screen 0.9615
set tmargin at screen 0.8761
set bmargin at screen 0.2124
set label 5 'TFLOP/s' at screen 0.0269,screen 0.5442 rotate by 90 center noenhanced
peak = 66.90816
dram = 4.2
roof(x) = x * dram < peak ? x * dram : peak
set logscale xy
set format '%g'
set samples 400
set xrange [1.99131429:127.444114]
set yrange [0.6690816:167.2704]
set xlabel 'Operations per byte of DRAM, FLOP/byte'
set label 3 'float32: 66.9 TFLOP/s' at graph 0.98,first 66.90816 right offset 0,0.6
set label 4 'DRAM: 4200 GB/s' at first 11.9478857,first 50.18112 right offset -0.5,0.4
set label 200 '' at screen 0.0654,screen 0.0420 point lt 1 ps 1.5
set label 100 'multiply' at screen 0.1269,screen 0.0420 left noenhanced
unset key
plot roof(x) with lines lc rgb '#1b1f24' lw 3, \
     'roofline.tsv' skip 1 every ::0::0 using 2:3 with points lt 1 ps 1.8

unset output
}
