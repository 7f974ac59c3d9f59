"""Finding, fetching, checking and reading the files of data sets."""
