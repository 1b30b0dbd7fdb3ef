/**
 * Runs before all tests: the collections that pond asks for (`src/platform/memory.ts`) do nothing here. A worker of tests holds
 * the modules and fixtures of hundreds of files, 600 MB and more, and each of these collections took 0.3 s of it. The runtime
 * still collects by itself. What memory pond needs is proved in processes of their own, which do not run this.
 */
Bun.gc = () => 0
