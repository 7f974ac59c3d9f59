"""Tiny made-up data sets in the layouts of the official files, for documentation, tests and first steps."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fedbandit.core.errors import unknown

LASTFM = {
    "artists.dat": "id\tname\turl\tpictureURL\n"
    "1\tSigur Rós\thttp://x/1\thttp://x/1.jpg\n4\tNobody\thttp://x/4\t\n7\tThe Others\thttp://x/7\t\n",
    "tags.dat": "tagID\ttagValue\r\n1\tambient\r\n3\tcafé\r\n",
    "user_artists.dat": "userID\tartistID\tweight\r\n2\t1\t900\r\n2\t7\t30\r\n5\t4\t8\r\n5\t1\t2\r\n",
    "user_taggedartists.dat": "userID\tartistID\ttagID\tday\tmonth\tyear\r\n"
    "2\t1\t1\t1\t4\t2009\r\n2\t7\t3\t1\t12\t2010\r\n5\t99\t3\t1\t1\t2011\r\n",
    "user_friends.dat": "userID\tfriendID\r\n2\t5\r\n5\t2\r\n",
}
DELICIOUS = {
    "tags.dat": 'id\tvalue\r\n1\tcafé\r\n2\t"quoted\r\n',
    "user_bookmarks.dat": "userID\tbookmarkID\r\n8\t1\r\n8\t2\r\n9\t2\r\n9\t5\r\n",
    "user_taggedbookmarks.dat": "userID\tbookmarkID\ttagID\r\n8\t1\t1\r\n8\t1\t2\r\n9\t2\t2\r\n",
    "user_contacts.dat": "userID\tcontactID\tdate_day\tdate_month\tdate_year\tdate_hour\tdate_minute\t"
    "date_second\r\n8\t9\t4\t10\t2010\t2\t14\t19\r\n9\t30\t3\t10\t2010\t12\t33\t9\r\n",
}
MOVIELENS_100K = {
    "u.data": "196\t2\t3\t881250949\n22\t1\t1\t878887116\n196\t1\t5\t881250950\n",
    "u.item": "1|Café (1995)|01-Jan-1995||http://x|0|0|0|1|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
    "2|GoldenEye (1995)|01-Jan-1995||http://x|0|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0|1|0|0\n",
}
MOVIELENS_1M = {
    "ratings.dat": "1::1::5::978300760\n1::3::3::978302109\n2::1::4::978301968\n2::2::2::0\n6::3::1::0\n",
    "movies.dat": "1::Toy Story (1995)::Animation|Comedy\n2::Café de la Nuit (1988)::Drama\n"
    "3::Alien Nights (1979)::Sci-Fi\n",
}
MOVIELENS_CSV = {
    "ratings.csv": "userId,movieId,rating,timestamp\r\n1,2,3.5,1112486027\r\n1,29,4.0,1112484676\r\n"
    "7,2,0.5,1112484819\r\n",
    "movies.csv": 'movieId,title,genres\r\n2,Jumanji (1995),Adventure|Children\r\n29,"City of Lost Children, '
    'The (Cité des enfants perdus, La) (1995)",Fantasy\r\n31,Untold (1999),(no genres listed)\r\n',
    "tags.csv": 'userId,movieId,tag,timestamp\r\n18,2,Magic Board,1240597180\r\n18,2,"wild, very",1240597181'
    "\r\n65,29,magic board,1368150078\r\n",
}
SHUTTLE = {
    "shuttle.trn": "50 21 77 0 28 0 27 48 22 2\n55 0 92 0 0 26 36 92 56 4\n53 0 82 0 52 -5 29 30 2 1\n",
    "shuttle.tst": "55 0 81 0 -6 11 25 88 64 4\n",
}
MAGIC = {
    "magic04.data": "28.7967,16.0021,2.6449,0.3918,0.1982,27.7004,22.011,-8.2027,40.092,81.8828,g\n"
    "31.6,11.7,2.5,0.53,0.37,26.2,23.8,-9.9,6.3,205.2,g\n162.0,136.0,4.0,0.06,0.03,116.7,-64.8,-45.2,76.9,256.7,h\n",
}
COVERTYPE = {
    "covtype.data": "2596,51,3,258,0,510,221,232,148,6279,1" + ",0" * 43 + ",5\n"
    "2804,139,9,268,65,3180,234,238,135,6121,0,1" + ",0" * 42 + ",2\n",
}
MUSHROOM = {
    "agaricus-lepiota.data": "p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u\n"
    "e,x,s,y,t,a,f,c,b,k,e,c,s,s,w,w,p,w,o,p,n,n,g\ne,b,s,w,t,a,f,c,b,n,e,?,s,s,w,w,p,w,o,p,n,n,m\n",
}
ADULT = {
    "adult.data": "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    "Male, 2174, 0, 40, United-States, <=50K\n52, ?, 287927, HS-grad, 9, Married-civ-spouse, ?, Wife, White, "
    "Female, 15024, 0, 40, United-States, >50K\n\n",
    "adult.test": "|1x3 Cross validator\n25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, "
    "Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n\n",
}


def _warfarin() -> Mapping[str, str]:
    middle = [f"column {index}" for index in range(55)]
    header = [
        "PharmGKB Subject ID",
        "Gender",
        "Age",
        "Height (cm)",
        "Weight (kg)",
        "Comorbidities",
        "Medications",
    ]
    dose = ["Therapeutic Dose of Warfarin", "INR on Reported Therapeutic Dose of Warfarin"]
    # 7 + 55 + 2 and two nameless columns make the 66 of the release.
    lines = [
        [*header, *middle[:-1], '"Herbal Medications, Vitamins, Supplements"', *dose, "", ""],
        [
            "PA1",
            "male",
            "60 - 69",
            "193.04",
            "115.7",
            "No Cancer; Gout",
            "aspirin",
            *["NA"] * 55,
            "49.00",
            "2.6",
            "",
            "",
        ],
        ["PA2", "female", "NA", "NA", "NA", "NA", "NA", *["0"] * 55, "NA", "NA", "", ""],
        ["PA3", "female", "90+", "150.0", "NA", "gout", "NA", *[""] * 55, "17.5", "NA", "", ""],
        [""] * 66,
    ]
    return {"warfarin.csv": "\ufeff" + "\n".join(",".join(line) for line in lines)}


def _medical_mnist() -> Mapping[str, bytes]:
    file = io.BytesIO()
    np.savez(
        file,
        images=np.arange(6 * 64 * 64, dtype=np.int64).astype(np.uint8).reshape(6, 64, 64),
        labels=np.arange(6, dtype=np.uint8),
        class_names=np.array([b"AbdomenCT", b"BreastMRI", b"CXR", b"ChestCT", b"Hand", b"HeadCT"]),
        filenames=np.array([b"image/%06d.jpeg" % index for index in range(6)]),
    )
    return {"medical_mnist_sample.npz": file.getvalue()}


FILES: dict[str, Mapping[str, str] | Mapping[str, bytes]] = {
    "lastfm": LASTFM,
    "delicious": DELICIOUS,
    "movielens-100k": MOVIELENS_100K,
    "movielens-1m": MOVIELENS_1M,
    "movielens-20m": MOVIELENS_CSV,
    "movielens-25m": MOVIELENS_CSV,
    "shuttle": SHUTTLE,
    "magic": MAGIC,
    "covertype": COVERTYPE,
    "mushroom": MUSHROOM,
    "adult": ADULT,
    "warfarin": _warfarin(),
    "medical-mnist": _medical_mnist(),
}
LATIN = frozenset({"tags.dat", "movies.dat", "u.item"})


def files(name: str) -> dict[str, bytes]:
    """Return the made-up files of a data set, in the encodings of the official ones.

    >>> sorted(files("shuttle"))
    ['shuttle.trn', 'shuttle.tst']
    """
    if name not in FILES:
        raise unknown("data set", name, FILES)
    return {
        file: content if isinstance(content, bytes) else content.encode("iso-8859-1" if file in LATIN else "utf-8")
        for file, content in FILES[name].items()
    }


@contextmanager
def folder(name: str) -> Iterator[Path]:
    """Write the made-up files of a data set into a folder that is gone afterwards.

    >>> with folder("magic") as path:
    ...     [file.name for file in path.iterdir()]
    ['magic04.data']
    """
    with TemporaryDirectory() as place:
        for file, content in files(name).items():
            (Path(place) / file).write_bytes(content)
        yield Path(place)
