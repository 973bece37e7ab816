# Draws ladder.svg, ladder.png and ladder.pdf from ladder.tsv: gnuplot ladder.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'ladder.tsv'
heading = 'Op Time of each milestone, 100 images'
origin = 'modelled: virtual GPU, profile h200'
panels = 2
array panel_title[2]
array first[2]
array bars[2]
panel_title[1] = 'two-layer, layer 1 (1x70x70, 12@5)'; first[1] = 0; bars[1] = 3
panel_title[2] = 'two-layer, layer 2 (12x33x33, 24@5)'; first[2] = 3; bars[2] = 3
with_cudnn = 0
with_floor = 1
least = 0.00390625
most = 0.137307

