# Draws sweep-BLK_H-ROWS.svg, sweep-BLK_H-ROWS.png and sweep-BLK_H-ROWS.pdf from sweep-BLK_H-ROWS.tsv: gnuplot sweep-BLK_H-ROWS.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'sweep-BLK_H-ROWS.tsv'
heading = 'm5: Op Time by BLK_H, ROWS'
origin = 'modelled: virtual GPU, profile h200'
values = 9
layers = 2
panels = 2
array panel_title[2]
array most[2]
panel_title[1] = '10 images'; most[1] = 0.09435
panel_title[2] = '20 images'; most[2] = 0.095413

