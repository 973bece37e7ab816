# ---- op-times: Op Time by data-set size, a line for each layer, both axes logarithmic --------------
# data: images, a column of ms for each of `lines` lines; labels of the slowest and the fastest point at each
# size.
top = head; bottom = top + 280; left = 84; right = 504
height = bottom + 70 + key_height(lines)
y_label = 'Op Time, ms'

# Space for the labels, and at least two of the marked powers of ten.
room = 1.8 * (most_ms / least_ms) ** 0.15
low = least_ms / room
high = most_ms * room
if (floor(log10(high)) - ceil(log10(low)) < 1) { low = 10 ** floor(log10(low)) }
if (floor(log10(high)) - ceil(log10(low)) < 1) { high = 10 ** ceil(log10(high)) }

set logscale xy
set format y '%g'
set xrange [fewest / 1.7:most * 1.7]
set yrange [low:high]
set xtics ()
do for [size in marked] { set xtics add (size size + 0) }
eval decades('y')
set xlabel 'Images'

do for [picture in pictures] {
    eval start
    eval panel
    eval y_axis
    plot for [i=1:lines] data using 1:(column(i + 1)) with linespoints lt i title line[i], \
         data using 1:'slowest_ms':'slowest' with labels noenhanced offset 0,0.9 notitle, \
         data using 1:'fastest_ms':'fastest' with labels noenhanced offset 0,-1 notitle
    unset output
}
