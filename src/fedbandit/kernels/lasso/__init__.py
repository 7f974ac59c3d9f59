"""The Lasso path and the sums that it is fitted to."""
