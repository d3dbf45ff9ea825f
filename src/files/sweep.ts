import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { recurring } from '../jobs'
import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import type { Place } from './places'
import { fileRepository as rows } from './repository'
import type { Files } from './service'

const EXPIRY_MS = 60_000
const SWEEP_MS = 3_600_000
/** Longer than any work between the bytes of a file and the commit that gives them to an owner. */
const UNOWNED_MS = 86_400_000
const BATCH = 100

/** Job that removes artifacts whose time has passed. */
export const expiredFiles = ({ removeExpired, dueAt }: Pick<Files, 'removeExpired' | 'dueAt'>) => {
  const work = async () => {
    while ((await removeExpired(BATCH)) === BATCH);
  }
  return recurring('files.expiry', EXPIRY_MS, work, { dueAt })
}

type Deps = { store: Store; clock: Clock; place: Place; incoming: string }

/** Job that removes bytes that belong to no artifact: what a crash left, and what could not be removed at once. */
export const sweptFiles = (deps: Deps) => recurring('files.sweep', SWEEP_MS, () => sweepFiles(deps))

export async function sweepFiles({ store, clock, place, incoming }: Deps): Promise<number> {
  const before = clock.now() - UNOWNED_MS
  let removed = await removeUnfinished(incoming, before)
  for await (const names of place.keptBefore(before)) {
    for (let at = 0; at < names.length; at += BATCH) {
      const some = names.slice(at, at + BATCH)
      const known = await rows.known(store.read, some)
      for (const name of some) {
        if (known.has(name)) continue
        await place.remove(name)
        removed += 1
      }
    }
  }
  return removed
}

async function removeUnfinished(incoming: string, before: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(incoming).catch(() => [])) {
    const path = join(incoming, name)
    const found = await stat(path).catch(() => null)
    if (!found || found.mtimeMs >= before) continue
    await rm(path, { force: true })
    removed += 1
  }
  return removed
}
