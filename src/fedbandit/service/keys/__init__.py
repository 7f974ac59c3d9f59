"""Who may talk to a broker: certificates, and the files that hold them."""
