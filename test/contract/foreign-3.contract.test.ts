import { testForeign } from "./foreign-law.ts"

testForeign(2)
