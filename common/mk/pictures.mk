# make pictures: the pictures of README.md, from gradings of the textbook's m3.

.PHONY: pictures

pictures: all ## make the pictures of the README again (needs nvcc and chromium)
	$(Q)BUILD=$(BUILD) common/mk/pictures.sh
