import type { Clock } from '../../kernel/clock'
import { createWorkerPool } from '../../kernel/worker-pool'
import type { Film, FilmTask } from './film.worker'
import type { FilmOrder } from './storyboard'

type Watch = {
  signal: AbortSignal
  /** Whose clip it is. */
  owner: string
  /** Told of the percent that is done, now and then. */
  told(percent: number): void
}

const LOOK_MS = 250
/** A minute of film on a busy machine. */
const FILM_MS = 600_000

export type Filmmaker = ReturnType<typeof createFilmmaker>

/** Clips drawn by rules, one at a time on a thread of its own; whoever is cancelled has their thread ended. */
export function createFilmmaker({ clock }: { clock: Pick<Clock, 'after'> }) {
  const threads = createWorkerPool<FilmTask, Film>({
    open: () => new Worker(new URL('./film.worker.ts', import.meta.url).href),
    most: 1,
    idleMs: 30_000,
  })

  return async function film(order: FilmOrder, { signal, owner, told }: Watch): Promise<Film> {
    const progress = new SharedArrayBuffer(4)
    const percent = new Int32Array(progress)
    let cancel = () => {}
    const look = () => {
      told(Atomics.load(percent, 0))
      cancel = clock.after(LOOK_MS, look)
    }
    look()
    try {
      return await threads.run({ ...order, progress }, { timeoutMs: FILM_MS, signal, who: owner })
    } finally {
      cancel()
    }
  }
}
