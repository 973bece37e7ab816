# Draws roofline.svg, roofline.png and roofline.pdf from roofline.tsv: gnuplot roofline.gp
# Change it as you like, under another name: the next grading writes this file again.
reset session

data = 'roofline.tsv'
heading = 'Roofline of the kernels, 100 images'
origin = 'modelled: virtual GPU, profile h200'
peak = 66.90816
peak_text = '66.9'
memory = 'DRAM'
slope = 4.2
slope_text = '4200'
kernels = 1
array kernel[1]
kernel[1] = 'multiply'

