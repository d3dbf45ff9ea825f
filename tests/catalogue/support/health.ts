/** How long `/health` took, in milliseconds, asked 20 times a second by a thread that does nothing else. */
export type HealthWatch = { stop(): Promise<void>; latencies(): number[] }

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
  }
}
