/** Numbers as people read them. */
const STEPS = ["bytes", "KB", "MB", "GB", "TB"]

/** 12,345 */
export function countText(count: number): string {
  return count.toLocaleString("en-US")
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
