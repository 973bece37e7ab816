# Draws op-times.svg, op-times.png and op-times.pdf from op-times.tsv: gnuplot op-times.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'op-times.tsv'
heading = 'm5: Op Time by data-set size'
origin = 'modelled: virtual GPU, profile h200'
marked = '2 20 100'
fewest = 2
most = 100
least_ms = 0.017449
most_ms = 0.137307
lines = 2
array line[2]
line[1] = 'layer 1 (1x70x70, 12@5)'
line[2] = 'layer 2 (12x33x33, 24@5)'

