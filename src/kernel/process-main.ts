import { writeFileSync } from 'node:fs'

/** Runs a worker's script in a separate process, for `openProcess`. */
const script = import(process.argv[2]!)
const self = globalThis as unknown as Worker
self.postMessage = (message: unknown) => void process.send!(message)
process.on('message', async (data) => {
  await script
  self.onmessage!.call(self, { data } as MessageEvent)
})
// The server is gone, and nobody reads an answer any more.
process.on('disconnect', () => process.exit())
try {
  // If memory runs out, the system kills this process and not the server.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // Some systems do not have this file.
}
