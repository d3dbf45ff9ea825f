/** Work on a whole database file. Its duration grows with the file. */
export type Task = { kind: 'backup'; target: string } | { kind: 'integrity' }
export type Outcome = { problems: string[] } | { failed: { message: string; code: unknown; errno: unknown } }

/**
 * Runs the task in a separate thread on its own connection, so that it does not block the event loop (docs/promises.md
 * I28). Returns the problems found. Throws the database's error.
 */
export function runOffThread(path: string, task: Task): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()
  const thread = new Worker(new URL('./off-thread.worker.ts', import.meta.url).href)
  thread.onmessage = ({ data }: MessageEvent<Outcome>) => {
    if ('problems' in data) resolve(data.problems)
    else reject(Object.assign(new Error(data.failed.message), { code: data.failed.code, errno: data.failed.errno }))
  }
  thread.onerror = ({ message }) => reject(new Error(message))
  thread.postMessage({ path, task })
  return promise.finally(() => thread.terminate())
}
