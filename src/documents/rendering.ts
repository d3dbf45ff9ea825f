import { totalmem } from 'node:os'
import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { tooLarge } from './errors'
import type { Outlined, OutlineOrder, Rendered, RenderOrder } from './render/render.worker'

const RENDER_MS = 30_000
const MB = 1024 ** 2
/** What a job may take: tables of a megabyte of text need up to 2.4 GB while they become a Word file. */
const LONG = { ms: 480_000, bytes: 3_072 * MB, share: 1 / 4 }

type By = { signal: AbortSignal; who: string }
type Task = RenderOrder | OutlineOrder

export type Rendering = ReturnType<typeof createRendering>

/** Makes texts by rules and lays documents out, on threads, within bounds of time and memory (I28). */
export function createRendering() {
  const open = () => new Worker(new URL('./render/render.worker.ts', import.meta.url).href)
  const usual = createWorkerPool<Task, Rendered | Outlined>({ open, most: 2, idleMs: 120_000, growthBytes: 400 * MB })
  const bytes = Math.max(400 * MB, Math.min(LONG.bytes, totalmem() * LONG.share))
  const long = createWorkerPool<Task, Rendered | Outlined>({ open, most: 1, idleMs: 1_000, growthBytes: bytes })
  return {
    /** Throws 400 `validation_error` for a document that takes more than 30 s or 400 MiB, and the signal's reason. */
    render: (order: RenderOrder, by: By) => surely(soon(order, by, RENDER_MS)) as Promise<Rendered>,
    /** Null for a document that takes longer than this, or more than 400 MiB. */
    renderWithin: (ms: number, order: RenderOrder, by: By) => soon(order, by, ms) as Promise<Rendered | null>,
    /** One at a time: within 8 minutes and a quarter of the machine's memory. Throws what `render` throws. */
    renderLong: (order: RenderOrder, by: By) =>
      surely(unlessLarge(long.run(order, { timeoutMs: LONG.ms, ...by }))) as Promise<Rendered>,
    /** Throws what `render` throws. */
    outline: (prompt: string, by: By) => surely(soon({ outline: prompt }, by, RENDER_MS)) as Promise<Outlined>,
  }

  function soon(order: Task, by: By, timeoutMs: number) {
    return timeoutMs > 0 ? unlessLarge(usual.run(order, { timeoutMs, ...by })) : Promise.resolve(null)
  }
}

/** Null for what took too much. */
const unlessLarge = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (error instanceof WorkerFailure && error.kind !== 'failed') return null
    throw error
  })

async function surely<T>(work: Promise<T | null>): Promise<T> {
  const done = await work
  if (done === null) throw tooLarge()
  return done
}
