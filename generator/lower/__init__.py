"""From statements to one record of each that everything else reads (record.py): hops, site term, fields, programs."""
