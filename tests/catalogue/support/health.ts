/**
 * `/health`, asked 20 times a second by a thread that does nothing else: how long each answer took, in milliseconds,
 * and how many asks had none. Tests count those; how long it takes is the bench's to measure.
 */
export type HealthWatch = { stop(): Promise<void>; latencies(): number[]; unanswered(): number }

/** What no answer counts as. */
export const NEVER_MS = 1_000_000

export function watchHealth(port: number, pid: number): HealthWatch {
  const watcher = new Worker(new URL('./health-watcher.ts', import.meta.url))
  watcher.postMessage({ port, pid })
  let found: number[] = []
  let stopping: Promise<void> | null = null

  const stop = () =>
    new Promise<void>((resolve) => {
      watcher.onmessage = ({ data }: MessageEvent<number[]>) => {
        found = data
        watcher.terminate()
        resolve()
      }
      watcher.postMessage('stop')
    })

  return {
    stop: () => {
      stopping ??= stop()
      return stopping
    },
    latencies: () => found,
    unanswered: () => found.filter((ms) => ms === NEVER_MS).length,
  }
}
