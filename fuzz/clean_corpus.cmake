# cmake -DCORPUS=DIR -P clean_corpus.cmake: an empty directory, so that a fuzz test starts from its seeds alone and the
# same seed gives the same run.
file(REMOVE_RECURSE ${CORPUS})
file(MAKE_DIRECTORY ${CORPUS})
