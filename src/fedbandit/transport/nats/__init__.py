"""The deployed engine: sites and a coordinator that meet at a NATS server with JetStream.

What a site sends goes into streams on the broker's disk, under a subject that only this site may publish; it waits
there while the coordinator is away. What the coordinator sends is a snapshot that it can always send again, so it is
pushed to the site and stored nowhere; a site that comes back asks for what it lacks.
"""
