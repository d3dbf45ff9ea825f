/** The chat's own script. Loaded beside the page. Runs after the page's content was painted. */
import { startChat } from './chat'

/** A hidden page paints nothing, so the work starts after this time. */
const LATEST_MS = 150

afterPaint(startChat)

/** Calls `work` once, after the browser reports a paint. Work that starts earlier would delay the paint. */
function afterPaint(work: () => void): void {
  let isDue = true
  const once = () => {
    if (isDue) work()
    isDue = false
  }
  setTimeout(once, LATEST_MS)
  new PerformanceObserver(once).observe({ type: 'paint', buffered: true })
}
