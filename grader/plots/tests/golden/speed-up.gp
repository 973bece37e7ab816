# Draws speed-up.svg, speed-up.png and speed-up.pdf from speed-up.tsv: gnuplot speed-up.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'speed-up.tsv'
heading = 'm5: speed-up over m2 (reference), 100 images'
origin = 'modelled: virtual GPU, profile h200'
groups = 2
bars = 4
highest = 5.20842793

