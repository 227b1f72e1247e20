"""What LDLC, VQPCA and GeodesicKMedoids share."""
