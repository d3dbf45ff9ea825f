import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import { mediaErrors } from '../errors'
import type { Outlined, OutlineInput, Rendered, RenderInput } from './render/render.worker.ts'

const RENDER_MS = 30_000
const MB = 1024 ** 2
const USUAL = { idleMs: 120_000, memoryBytes: 512 * MB }
/** Limits of a job. Tables in a megabyte of text need up to 2.4 GB to become a Word file. */
const LONG = { idleMs: 1_000, memoryBytes: 3_072 * MB }
const LONG_MS = 480_000

type By = { signal: AbortSignal; who: string }
type Task = RenderInput | OutlineInput

export type Rendering = ReturnType<typeof createRendering>

/** Generates outlines and renders documents in processes, with limits on time and memory. */
export function createRendering() {
  const script = new URL('./render/render.worker.ts', import.meta.url)
  const usual = createWorkerPool<Task, Rendered | Outlined>({ script, max: 2, ...USUAL })
  const long = createWorkerPool<Task, Rendered | Outlined>({ script, max: 1, ...LONG })
  return {
    /** Throws 400 `validation_error` for a document that takes more than 30 s or 512 MiB, and the signal's reason. */
    render: (input: RenderInput, by: By) => surely(soon(input, by, RENDER_MS)) as Promise<Rendered>,
    /** Null for a document that takes longer than `ms`, or more than 512 MiB. */
    renderWithin: (ms: number, input: RenderInput, by: By) => soon(input, by, ms) as Promise<Rendered | null>,
    /** One at a time, within 8 minutes and a quarter of the machine's or container's memory. Throws as `render`. */
    renderLong: (input: RenderInput, by: By) =>
      surely(unlessLarge(long.run(input, { timeoutMs: LONG_MS, ...by }))) as Promise<Rendered>,
    /** Throws what `render` throws. */
    outline: (prompt: string, by: By) => surely(soon({ outline: prompt }, by, RENDER_MS)) as Promise<Outlined>,
  }

  function soon(input: Task, by: By, timeoutMs: number) {
    return timeoutMs > 0 ? unlessLarge(usual.run(input, { timeoutMs, ...by })) : Promise.resolve(null)
  }
}

/** Null if the task exceeds its limits. */
const unlessLarge = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (error instanceof WorkerFailure && error.kind !== 'failed') return null
    throw error
  })

async function surely<T>(work: Promise<T | null>): Promise<T> {
  const done = await work
  if (done === null) throw mediaErrors.tooLarge()
  return done
}
