"""The processes of a deployment: the coordinator, its pages, and a whole federation on one machine."""
