import { appendFileSync } from 'node:fs'
import { spentBy } from '../../support/spent'

/*
 * Preloaded into a server under test: writes down each time its event loop stood still (docs/promises.md I28). Time
 * that its thread was ready but another process had the core is not its doing and is taken off.
 */
const file = process.env.SVC_TEST_BLOCKS
const EVERY_MS = 10
const WORTH_NOTING_MS = 50

if (file) {
  let last = performance.now()
  let before = spentBy('self')
  setInterval(() => {
    const [now, spent] = [performance.now(), spentBy('self')]
    const ms = Math.round(now - last - EVERY_MS - (spent.queuedMs - before.queuedMs))
    const ranMs = Math.round(spent.ranMs - before.ranMs)
    if (ms > WORTH_NOTING_MS) appendFileSync(file, `${JSON.stringify({ ms, ranMs, at: new Date().toISOString() })}\n`)
    last = performance.now()
    before = spent
  }, EVERY_MS).unref()
}
