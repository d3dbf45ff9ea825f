/** A page that is not on the screen paints nothing; its work begins all the same. */
const LATEST_MS = 150

/** Calls `work` once, after the next frame was painted. */
export function afterPaint(work: () => void): void {
  let isDue = true
  const once = () => {
    if (isDue) work()
    isDue = false
  }
  setTimeout(once, LATEST_MS)
  requestAnimationFrame(() => setTimeout(once))
}
