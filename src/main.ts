#!/usr/bin/env bun
/** Argv in, exit code out. Everything else is composed in `pond.ts`. */
process.stdout.write("pond\n")
