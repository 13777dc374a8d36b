"""Excel workbooks (.xlsx): the parts of the package, the cells of its one sheet, the records in them."""
