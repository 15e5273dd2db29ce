"""From statements to the shapes that templates know: hops and site terms, chains along a fifth dimension."""
