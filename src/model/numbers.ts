/** Numbers as people read them, wherever they stand. */
const STEPS = ["bytes", "KB", "MB", "GB", "TB"]

/** 12,345 */
export function countText(count: number): string {
  // The first text in a language loads its rules, which takes a millisecond or two.
  return Number.isInteger(count) && Math.abs(count) < 1_000 ? String(count) : count.toLocaleString("en-US")
}

/** 1 message, 12 messages */
export function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? "" : "s"}`
}

/** 1.2 MB */
export function bytesText(bytes: number): string {
  let value = bytes
  let step = 0
  while (value >= 1000 && step < STEPS.length - 1) {
    value /= 1000
    step++
  }
  return step === 0 ? `${value} bytes` : `${value.toFixed(value < 10 ? 1 : 0)} ${STEPS[step]}`
}

/** 40 s, 2:05 min, 1:02 h */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const [large, small, unit] =
    seconds < 3_600
      ? [Math.floor(seconds / 60), seconds % 60, "min"]
      : [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), "h"]
  return `${large}:${String(small).padStart(2, "0")} ${unit}`
}

/** $1,234.50, and $0.0012 where cents would say nothing. */
export function dollarText(dollars: number): string {
  if (dollars > 0 && dollars < 0.0001) return "<$0.0001"
  const [whole = "0", cents = "00"] = dollars.toFixed(dollars > 0 && dollars < 0.01 ? 4 : 2).split(".")
  return `$${countText(Number(whole))}.${cents}`
}
