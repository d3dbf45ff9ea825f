import type { Random } from '../support/random'
import type { ScriptedStripe } from '../support/stripe'
import { actsOf } from './acts'
import { createClient } from './client'
import type { Endpoint } from './endpoint'
import type { Witness } from './witness'

export const CLIENTS = 32
const PAUSE_MS = 50

/** Shares of a hundred requests. */
const MIX = {
  complete: 14,
  act: 5,
  stream: 9,
  actStream: 4,
  chat: 9,
  chatStream: 5,
  createKey: 6,
  rotateKey: 4,
  createOrg: 3,
  prefer: 1,
  buy: 4,
  continued: 14,
  rename: 6,
  remove: 4,
  make: 8,
  run: 4,
  publish: 6,
  read: 12,
} as const

type Deps = {
  url: string | (() => string)
  key: string
  stripe: ScriptedStripe
  endpoint: Endpoint
  witness: Witness
  random: Random
  faults: string[]
  /**
   * For a cluster, of which a part is always there: clients go on after a request without an answer. `isAway`: which
   * refusals are as good as none. Null: every request has an answer, or that is a fault.
   */
  cluster?: { clients: number; isAway: ((status: number, text: string) => boolean) | null }
}

/** Starts the clients; each works on its own things, one request after another, until the server is gone. */
export function startLoad(deps: Deps): { stop(): Promise<void> } {
  let stopping = false
  const client = createClient(deps.url, deps.key, deps.cluster?.isAway ?? undefined)
  const workers = Array.from({ length: deps.cluster?.clients ?? CLIENTS }, async () => {
    const acts = actsOf({ ...deps, client })
    while (!stopping) {
      const outcome = await acts[deps.random.weighted(MIX)]()
      if (outcome.is === 'unknown' && !deps.cluster) return
      if (outcome.is === 'unknown' && deps.cluster?.isAway === null) deps.faults.push('a request had no answer')
      if (outcome.is === 'unknown') await Bun.sleep(PAUSE_MS)
      if (outcome.is === 'refused') deps.faults.push(`${outcome.status} ${outcome.text.slice(0, 200)}`)
    }
  })
  return {
    async stop() {
      stopping = true
      await Promise.all(workers)
    },
  }
}
