"""Official files to typed arrays, one module a data set; finding, checking and fetching them.

>>> from fedbandit.datasets.files import examples
>>> from fedbandit.datasets.sets import movielens
>>> with examples.folder("movielens-1m") as path:
...     ratings = movielens.load("1m", path).ratings
>>> len(ratings)
5
"""

from fedbandit.datasets.description import DataSet, Description, Download
from fedbandit.datasets.files.checking import Count, Report, check
from fedbandit.datasets.files.errors import DamagedFile, DownloadError, MissingData
from fedbandit.datasets.files.fetching import Progress, fetch
from fedbandit.datasets.files.folders import download_folder
from fedbandit.datasets.registry import catalogue, describe, load
from fedbandit.files.cache_folder import cache_folder

__all__ = [
    "Count",
    "DamagedFile",
    "DataSet",
    "Description",
    "Download",
    "DownloadError",
    "MissingData",
    "Progress",
    "Report",
    "cache_folder",
    "catalogue",
    "check",
    "describe",
    "download_folder",
    "fetch",
    "load",
]
