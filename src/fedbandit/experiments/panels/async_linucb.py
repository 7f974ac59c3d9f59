"""The panels of "Asynchronous UCB Algorithms for Federated Linear Bandits" (Li and Wang 2022)."""

from __future__ import annotations

from fedbandit.experiments.panel import Panel, Published, Quote

PAPER = "async-linucb"
TRADE_OFF = Quote(
    "We can see both algorithms shows a smooth trade-off in RT and CT as projected by our analysis",
    ("Regret falls as Async-LinUCB communicates more",),
)

Panel(
    PAPER,
    "figure 2a",
    "regret against communication, clients arrive uniformly",
    "async-linucb/homogeneous-uniform",
    ("trade-off",),
    (
        TRADE_OFF,
        Quote(
            "where the client at each time step is uniformly sampled from [N ], Sync-LinUCB has lower CT than "
            "Async-LinUCB under the same RT",
            ("With uniform arrivals", "The same"),
        ),
    ),
).register()
Panel(
    PAPER,
    "figure 2b",
    "regret against communication, few clients arrive often",
    "async-linucb/homogeneous-skewed",
    ("trade-off",),
    (
        TRADE_OFF,
        Quote(
            "where the client at each time step is sampled from an arbitrary non-uniform distribution, AsyncLinUCB has "
            "lower CT than Sync-LinUCB under the same RT",
            ("With skewed arrivals", "The same"),
        ),
    ),
).register()
Panel(
    PAPER,
    "figure 3",
    "regret and communication by the number of shared features",
    "async-linucb/heterogeneous",
    ("regret", "messages"),
    (
        Quote(
            "we observe a clear trend that RT keeps decreasing while CT keeps increasing",
            ("Regret of Async-LinUCB-AM falls", "Its communication rises", "With a fixed width"),
        ),
    ),
).register()

DIVERSE = Quote(
    "Async-LinUCB with γ = +∞ (illustrated as the red dot) attains very high reward, which suggests users in these two "
    "datasets have very diverse preferences, such that aggregating their data has a negative impact on the performance",
    ("No communication earns more",),
)
PERSONAL = Quote(
    "Async-LinUCB-AM attains relatively good performance even when the clients frequently communicate with each other",
    ("Async-LinUCB-AM earns more than Async-LinUCB",),
)
H3 = "appendix H.3"

Panel(
    PAPER, "figure 4a", "LastFM: reward against communication", "async-linucb/lastfm", ("trade-off",),
    (DIVERSE, PERSONAL),
).register()  # fmt: skip
Panel(
    PAPER,
    "figure 4b",
    "Delicious: reward against communication",
    "async-linucb/delicious",
    ("trade-off",),
    (
        DIVERSE,
        PERSONAL,
        Quote(
            "in this low-communication region (e.g. with γ > 104 ), the reward indeed increases when communication "
            "increases",
            ("With high thresholds Async-LinUCB earns more",),
        ),
    ),
    (
        Published(1.6891, "normalised", "No communication", "", H3),
        Published(1.8348, "normalised", "Async-LinUCB", "γ=6001", H3),
        Published(14_230, "messages", "Async-LinUCB", "γ=6001", H3),
        Published(1.2887, "normalised", "Async-LinUCB", "γ=1.01", H3),
        Published(12_901_135, "messages", "Async-LinUCB", "γ=1.01", H3),
    ),
).register()
Panel(
    PAPER,
    "figure 4c",
    "MovieLens: reward against communication",
    "async-linucb/movielens",
    ("trade-off",),
    (
        Quote(
            "Async-LinUCB with γ = 1 attains very high reward, which indicates that the users share similar "
            "preferences, "
            "so that data aggregation over different users becomes vital for good performance",
            ("One model of everyone's data", "Async-LinUCB that communicates often"),
        ),
        Quote(
            "the lower accumulative reward of AsyncLinUCB-AM compared with the other two algorithms",
            ("Async-LinUCB-AM earns less",),
        ),
        Quote(
            "it has a much higher accumulative reward than the extreme case of Async-LinUCB with γ = +∞",
            ("Async-LinUCB-AM earns more than no communication",),
        ),
    ),
).register()

TABLE = "table 2"
GROUPS = ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80-89", "90 and more")
COLUMNS = (
    ("rewards", "γ=∞", (21, 123, 214, 290, 704, 680, 1419, 1628, 1185, 414)),
    ("rewards", "γ=6001", (24, 117, 202, 308, 764, 751, 1576, 1701, 1369, 448)),
    ("rewards", "γ=3", (22, 61, 103, 124, 298, 424, 978, 1351, 1341, 389)),
    ("exchanges", "γ=6001", (0, 1, 0, 0, 0, 0, 1, 1, 6, 2)),
    ("exchanges", "γ=3", (118, 75, 79, 92, 144, 185, 280, 252, 167, 31)),
    ("turns", "γ=∞", (680, 1514, 2575, 3988, 8253, 13_330, 22_693, 24_972, 17_785, 3456)),
)

Panel(
    PAPER,
    TABLE,
    "Delicious: who uploads and who gains, by activity",
    "async-linucb/activity-groups",
    ("groups",),
    (
        Quote(
            "with γ = 6001 (CT = 14230), most upload came from the active users",
            ("With γ=6001 most uploads", "The same"),
        ),
        Quote(
            "when CT = 14230, almost all the groups have improved performance",
            ("With γ=6001 almost all groups earn more",),
        ),
        Quote(
            "when CT increased to 54006, the cumulative reward for the less active groups (10-80) dropped dramatically",
            ("With γ=3 the less active groups",),
        ),
    ),
    tuple(
        Published(value, f"{what} {group}", "Async-LinUCB", point, TABLE)
        for what, point, values in COLUMNS
        for group, value in zip(GROUPS, values, strict=True)
    ),
).register()
Panel(
    PAPER,
    "figure 5",
    "Delicious: users in the plane of two principal components",
    "async-linucb/activity-groups",
    ("map",),
    (
        Quote(
            "points corresponding to the most active groups (80-100) are centered near the origin",
            ("The most active users",),
        ),
        Quote(
            "points for the less active groups are distributed along two nearly orthogonal directions",
            unanswered="it is read off the map: the two directions drawn are orthogonal whatever the users are",
        ),
    ),
).register()
