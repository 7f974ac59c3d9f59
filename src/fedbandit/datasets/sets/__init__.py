"""One module a data set: official files to arrays."""
