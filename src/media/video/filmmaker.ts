import { createWorkerPool } from '../../kernel/worker-pool'
import type { Film } from './film.worker'
import type { FilmOrder } from './storyboard'

type Watch = {
  signal: AbortSignal
  /** Whose clip it is. */
  owner: string
  /** Told of the percent that is done, once for each second of the clip. */
  told(percent: number): void
}

/** A minute of film on a busy machine. */
const FILM_MS = 600_000

export type Filmmaker = ReturnType<typeof createFilmmaker>

/** Clips drawn by rules, one at a time in a process of its own; whoever is cancelled has their process ended. */
export function createFilmmaker() {
  const pool = createWorkerPool<FilmOrder, Film>({
    script: new URL('./film.worker.ts', import.meta.url),
    most: 1,
    idleMs: 30_000,
    memoryBytes: 1024 ** 3,
  })

  return function film(order: FilmOrder, { signal, owner, told }: Watch): Promise<Film> {
    return pool.run(order, { timeoutMs: FILM_MS, signal, who: owner, told })
  }
}
