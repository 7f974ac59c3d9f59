"""What any command may say on standard error, however well all goes."""

COMPILING = "fedbandit is compiling for this machine, which later starts need not.\n"
