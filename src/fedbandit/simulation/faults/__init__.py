"""The nodes of a deployment on machines and wires that fail, by a seed."""
