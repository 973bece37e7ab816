# Draws timeline.svg, timeline.png and timeline.pdf from timeline.tsv: gnuplot timeline.gp
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
    set terminal svg noenhanced size 520,626 font 'sans-serif,16' background rgb 'white'
}
if (picture eq 'png') {
    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
        set terminal pngcairo noenhanced size 1560,1878 font 'Sans,16' fontscale 2.4 linewidth 3 pointscale 4
    } else {
        set terminal png noenhanced size 520,626 medium
    }
}
if (picture eq 'pdf') {
    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }
    set terminal pdfcairo noenhanced size 5.20in,6.26in font 'Sans,16' fontscale 0.53 linewidth 1 pointscale 1 background rgb 'white'
}
set output 'timeline.'.picture
set label 1 'Timeline, 100 images' at screen 0.0231,screen 0.9712 left font ',17' noenhanced
set label 2 'modelled: virtual GPU, profile h200' at screen 0.0231,screen 0.9361 left font ',14' noenhanced textcolor rgb '#57606a'

set border 1
unset grid
set key maxrows 3 maxcols 2 width -2
set multiplot
set object 1 rectangle from first 2.692302,graph 0 to first 2.763212,graph 1 behind fs solid border rgb '#1b1f24' fc rgb '#ffe08a'
set label 10 'A' at first 2.727757,graph 1 center offset 0,0.55
set object 2 rectangle from first 7.0134068,graph 0 to first 7.1888352,graph 1 behind fs solid border rgb '#1b1f24' fc rgb '#ffe08a'
set label 11 'B' at first 7.101121,graph 1 center offset 0,0.55
set label 20 '1  unroll' at screen 0.0231,screen 0.1470 left
set label 21 '2  multiply' at screen 0.0231,screen 0.1118 left
set lmargin at screen 0.1615
set rmargin at screen 0.9692
set tmargin at screen 0.8371
set bmargin at screen 0.7125
set label 3 'The whole run' at screen 0.0231,screen 0.8850 left
set ytics scale 0 ('API' 2, 'copies' 1, 'kernels' 0)
set xtics 2
set xrange [0:8.749728]
set yrange [-0.5:2.5]
set xlabel 'ms'
plot 'timeline.tsv' skip 1 using ($1==0&&$3==0?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff' title 'API calls', \
     'timeline.tsv' skip 1 using ($1==0&&$3==1?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00' title 'copies to the GPU', \
     'timeline.tsv' skip 1 using ($1==0&&$3==2?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' title 'copies from the GPU', \
     'timeline.tsv' skip 1 using ($1==0&&$3==5?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#525252' fc rgb '#969696' title 'kernels', \
     'timeline.tsv' skip 1 using ($1==0?($4+$5)/2:NaN):2:6 with labels font ',14' notitle
unset object 1
unset label 10
unset object 2
unset label 11
unset label 20
unset label 21
unset label 1
unset label 2
unset key
set lmargin at screen 0.1615
set rmargin at screen 0.9692
set tmargin at screen 0.5942
set bmargin at screen 0.4696
set label 3 'A, from 2.692 ms on' at screen 0.0231,screen 0.6134 left
set ytics scale 0 ('API' 2, 'copies' 1, 'kernels' 0)
set xtics 20
set xrange [0:70.91]
set yrange [-0.5:2.5]
set xlabel 'µs'
plot 'timeline.tsv' skip 1 using ($1==1&&$3==0?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff' title '', \
     'timeline.tsv' skip 1 using ($1==1&&$3==1?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00' title '', \
     'timeline.tsv' skip 1 using ($1==1&&$3==2?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' title '', \
     'timeline.tsv' skip 1 using ($1==1&&$3==5?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#525252' fc rgb '#969696' title '', \
     'timeline.tsv' skip 1 using ($1==1?($4+$5)/2:NaN):2:6 with labels font ',14' notitle
set lmargin at screen 0.1615
set rmargin at screen 0.9692
set tmargin at screen 0.3514
set bmargin at screen 0.2268
set label 3 'B, from 7.013 ms on' at screen 0.0231,screen 0.3706 left
set ytics scale 0 ('API' 2, 'copies' 1, 'kernels' 0)
set xtics 50
set xrange [0:175.4284]
set yrange [-0.5:2.5]
set xlabel 'µs'
plot 'timeline.tsv' skip 1 using ($1==2&&$3==0?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff' title '', \
     'timeline.tsv' skip 1 using ($1==2&&$3==1?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00' title '', \
     'timeline.tsv' skip 1 using ($1==2&&$3==2?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea' title '', \
     'timeline.tsv' skip 1 using ($1==2&&$3==5?$4:NaN):2:4:5:($2-0.38):($2+0.38) with boxxyerror lt 1 lw 1 fs solid 1 border rgb '#525252' fc rgb '#969696' title '', \
     'timeline.tsv' skip 1 using ($1==2?($4+$5)/2:NaN):2:6 with labels font ',14' notitle
unset multiplot

unset output
}
