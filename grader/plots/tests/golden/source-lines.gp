# Draws source-lines.svg, source-lines.png and source-lines.pdf from source-lines.tsv: gnuplot source-lines.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'source-lines.tsv'
heading = 'Memory accesses by source line, 100 images'
origin = 'modelled: virtual GPU, profile h200'
array depth[2]
array most[2]
depth[1] = 132; most[1] = 16
depth[2] = 174; most[2] = 4

