"""The protocol without any network: ids, strict JSON, keys, signatures, documents. See spec/ for the rules."""
