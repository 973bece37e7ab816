# Draws timeline.svg, timeline.png and timeline.pdf from timeline.tsv: gnuplot timeline.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'timeline.tsv'
heading = 'Timeline, 100 images'
origin = 'modelled: virtual GPU, profile h200'
array span[3]
array unit[3]
array panel_title[3]
array window_begin[3]
array window_end[3]
windows = 2
span[1] = 8.749728; unit[1] = 'ms'
panel_title[1] = 'The whole run'
span[2] = 70.91; unit[2] = 'µs'
panel_title[2] = 'A, from 2.692 ms on'; window_begin[1] = 2.692302; window_end[1] = 2.763212
span[3] = 175.4284; unit[3] = 'µs'
panel_title[3] = 'B, from 7.013 ms on'; window_begin[2] = 7.0134068; window_end[2] = 7.1888352
kinds = '1 2 3 6'
names = 2
array name[2]
name[1] = 'unroll'
name[2] = 'multiply'

