import { appendFileSync } from 'node:fs'
import { queuedMs } from './queued'

/*
 * Preloaded into a server under test: writes down each time its event loop stood still (I28). Time that
 * its thread was ready but another process had the core is not its doing and is taken off.
 */
const file = process.env.SVC_TEST_BLOCKS
const EVERY_MS = 10
const WORTH_NOTING_MS = 50

if (file) {
  let last = performance.now()
  let queued = queuedMs('self')
  setInterval(() => {
    const [now, queuedNow] = [performance.now(), queuedMs('self')]
    const ms = Math.round(now - last - EVERY_MS - (queuedNow - queued))
    if (ms > WORTH_NOTING_MS) appendFileSync(file, `${JSON.stringify({ ms, at: new Date().toISOString() })}\n`)
    last = performance.now()
    queued = queuedNow
  }, EVERY_MS).unref()
}
