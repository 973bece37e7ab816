# ---- roofline: each kernel's speed, below the limits of a memory and of the float32 units -----------------
# data: kernel, FLOP per byte of `memory`, TFLOP/s; `kernels` rows. peak: TFLOP/s, slope: TB/s.
top = head; bottom = top + 300; left = 84; right = 500
height = bottom + 66 + key_height(kernels)
y_label = 'TFLOP/s'
roof(x) = x * slope < peak ? x * slope : peak
min(a, b) = a < b ? a : b
max(a, b) = a > b ? a : b

stats data using 'flop_per_byte' name 'intensity' nooutput
stats data using 'tflop_per_s' name 'speed' nooutput
ridge = peak / slope
from = min(ridge / 8, intensity_min / 2)
to = max(ridge * 8, intensity_max * 2)
# Space for the labels on both sides of the ridge.
from = min(from, ridge * (to / ridge) ** -0.75)
to = max(to, ridge * (ridge / from) ** 0.85)

set logscale xy
eval decades('x'); eval decades('y')
set format '%g'
set samples 400
set xrange [from:to]
set yrange [min(speed_min / 2, peak / 100):2.5 * peak]
set xlabel 'Operations per byte of '.memory.', FLOP/byte'
set label 3 'float32: '.peak_text.' TFLOP/s' at graph 0.98,first peak right offset 0,0.6
set label 4 memory.': '.slope_text.' GB/s' at first 0.75 * ridge,first 0.75 * peak right offset -0.5,0.4
do for [i=1:kernels] {
    set label 200 + i '' at screen x(34),screen key_y(i, kernels) point lt i ps 1.5
    set label 100 + i kernel[i] at screen x(66),screen key_y(i, kernels) left noenhanced
}
unset key

do for [picture in pictures] {
    eval start
    eval panel
    eval y_axis
    plot roof(x) with lines lc rgb '#1b1f24' lw 3, \
         for [i=1:kernels] data every ::i-1::i-1 using 2:3 with points lt i ps 1.8
    unset output
}
