"""From records and statements to text: sources, tables, and kernels as files of their own."""
