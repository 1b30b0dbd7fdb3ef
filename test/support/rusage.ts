/** What the kernel counts of processes: processor time and peak memory, of this one or of those that it started and that ended. */
import { dlopen, FFIType } from "bun:ffi"
import { libcPath } from "../../src/platform/native/libc.ts"

const WHO = { self: 0, children: -1 } as const
/** Of a `rusage`: two times of two numbers each stand before the peak, and the whole has eighteen. */
const [PEAK, RUSAGE_NUMBERS] = [4, 18]

export interface Usage {
  readonly cpuMs: number
  readonly peakMb: number
}

export function usageOf(who: keyof typeof WHO): Usage {
  const { symbols } = dlopen(libcPath() ?? "", {
    getrusage: { args: [FFIType.int, FFIType.ptr], returns: FFIType.int },
  })
  const usage = new BigInt64Array(RUSAGE_NUMBERS)
  symbols.getrusage(WHO[who], usage)
  const [userS = 0, userUs = 0, systemS = 0, systemUs = 0] = Array.from(usage, Number)
  const peak = Number(usage[PEAK])
  return {
    cpuMs: (userS + systemS) * 1000 + (userUs + systemUs) / 1000,
    peakMb: process.platform === "darwin" ? peak / 2 ** 20 : peak / 2 ** 10,
  }
}
