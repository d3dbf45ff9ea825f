/** The chat's own script. It is read beside the page, and does its work when what the page has was painted. */
import { startChat } from './chat'

/** A page that is not on the screen paints nothing; its work begins all the same. */
const LATEST_MS = 150

afterPaint(startChat)

/** Calls `work` once, when the browser says that something was painted: what begins sooner takes its time from it. */
function afterPaint(work: () => void): void {
  let isDue = true
  const once = () => {
    if (isDue) work()
    isDue = false
  }
  setTimeout(once, LATEST_MS)
  new PerformanceObserver(once).observe({ type: 'paint', buffered: true })
}
