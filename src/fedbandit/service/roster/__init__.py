"""Who belongs to a federation, at work: invitations, certificates for those who join, and the broker's door."""
