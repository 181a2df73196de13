#!/bin/sh
# Stands on the search path of Cordon's sessions. CORDON_NODE is the program that runs Cordon; where that is the
# editor itself, the variable below makes it Node.
export ELECTRON_RUN_AS_NODE=1
exec "${CORDON_NODE:-node}" "${0%/*}/../cli.js" apply-patch "$@"
