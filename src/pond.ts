/** The composition root: the one place where the layers are put together. */
